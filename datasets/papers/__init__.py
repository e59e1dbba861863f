"""Data sets of the papers: catalogue, files, download, loaders and splits."""
