"""The command `tap-leadintent-state`: what a state says, and changes to it."""
