"""Whether this machine can rebuild the data set, and what it is."""
