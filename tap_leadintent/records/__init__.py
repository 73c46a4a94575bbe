"""Turns records of the API into records for the target."""
