"""What to read: ranges, coverage, windows; several at once, in order."""
