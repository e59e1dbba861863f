"""User-uploaded tables: reading them in a child process, and preparing their columns."""
