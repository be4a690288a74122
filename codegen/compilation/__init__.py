"""From C sources to callables: compilers, the cache of what they built, and the binding to NumPy."""
