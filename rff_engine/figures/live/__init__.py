"""The live views of the app: their data, HTML, style sheet and JavaScript."""
