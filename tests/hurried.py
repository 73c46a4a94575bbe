"""Runs the tap with hardly any wait between tries: `python -m tests.hurried`."""

from __future__ import annotations

from unittest import mock

from tap_leadintent.tap import TapLeadIntent

with mock.patch("tap_leadintent.sending.backoff", return_value=0.01):
    TapLeadIntent.cli()
