"""Protocols of the papers, and the problems and units that compute their rows."""
