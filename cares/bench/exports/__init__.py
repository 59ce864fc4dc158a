"""The items as tasks of other tools. `standalone_*.py` are copied into exports and import nothing of CARES."""
