"""Commands of `cares`, one module a family; each has a `register`."""
