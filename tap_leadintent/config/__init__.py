"""What a user may say, and whether it makes sense."""
