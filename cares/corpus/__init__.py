"""A made-up data set for the leakage audit: allocation, speech-like talk, the bank's recipes, and the real mix.

It stands beside the commands, above the stage families: it is the one place that needs allocation, sounds, mix and
audit at once, and no family imports it. Nothing is read but params.yaml, the catalog and the item store.
"""
