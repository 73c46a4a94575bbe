"""Makes the pictures, figures and definitions that the project contains."""
