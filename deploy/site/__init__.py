"""The static edition: the live views of the app as plain files, for any host, a frame, or a folder on a stick."""
