"""CARES: two-speaker spoken scenes in which every sound has a reaction label fixed before anything is written."""

import os

# Threads that spin while they wait take the processor from those they wait for: on a busy machine of two cores the
# language model ran several times slower. It must be set before the first import of a library with OpenMP in it.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

__version__ = "0.1.0"
