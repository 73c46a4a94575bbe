"""The ways in which the sandbox can be made to misbehave."""
