"""The report: a static site about one build of the data set, and a scene as text for the terminal."""
