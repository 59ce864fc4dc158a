"""The benchmark: frozen items, the systems that answer them, the reading of answers, and the scores."""
