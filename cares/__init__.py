"""CARES: two-speaker spoken scenes in which every sound has a reaction label fixed before anything is written."""

__version__ = "0.1.0"
