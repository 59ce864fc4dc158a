"""`cares verify`: rebuild in a clean copy, compare every tracked hash, and explain a difference."""
