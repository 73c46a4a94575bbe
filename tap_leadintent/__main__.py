"""Runs the tap: `python -m tap_leadintent`."""

from tap_leadintent.tap import TapLeadIntent

TapLeadIntent.cli()
