"""Servers with a rate limit; each program runs alone."""
