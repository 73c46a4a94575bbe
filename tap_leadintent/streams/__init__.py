"""The streams: what each reads, and what the SDK calls."""
