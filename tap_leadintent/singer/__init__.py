"""What lies between this tap and the SDK, and refuses what it does not carry."""
