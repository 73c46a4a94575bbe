"""Runs the command as `python -m tap_leadintent.state_tool`."""

from tap_leadintent.state_tool.cli import main

if __name__ == "__main__":
    main(prog_name="tap-leadintent-state")
