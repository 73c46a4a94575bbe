"""Measures the tap against other ways to read the same leads; see `__main__`."""
