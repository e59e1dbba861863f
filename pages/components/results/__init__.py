"""Cached results, one file a page."""
