"""Tables and HTML reports of results, and comparisons with the printed numbers of the papers."""
