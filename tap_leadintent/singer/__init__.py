"""A base for any tap: all that lies between a tap and the SDK."""
