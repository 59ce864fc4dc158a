"""What every stage stands on: canonical JSON, atomic files, keyed random numbers, params, item store, executor."""
