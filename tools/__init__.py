"""What makes the pictures, the definitions and the figures of the pages: no tests."""
