"""The records that the sandbox serves: drawn from a seed, placed in time."""
