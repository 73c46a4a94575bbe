"""The command `tap-leadintent-state`, which explains and changes a state."""
