"""The procedural source: recipes in a small vocabulary of layers become takes, a function of (seed, take id) alone."""
