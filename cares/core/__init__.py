"""What every stage stands on: canonical JSON, atomic files, keyed random numbers, params, the item store, the executor."""
