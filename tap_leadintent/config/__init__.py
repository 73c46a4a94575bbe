"""Settings, files and environment: reading and validating what the user sets."""
