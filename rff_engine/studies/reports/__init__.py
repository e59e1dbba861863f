"""Tables of results, certificates as pages, and comparisons with the printed numbers of the papers."""
