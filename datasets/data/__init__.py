"""Files of data sets, and the rows of the papers' reruns."""
