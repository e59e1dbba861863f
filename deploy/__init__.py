"""Running the app on a server of one's own: several processes behind nginx."""
