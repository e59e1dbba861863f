"""The live views of the app: their JavaScript, and what the server sends them."""
