"""Runs the tap with hardly any wait between tries."""

from __future__ import annotations

from unittest import mock

from tap_leadintent.__main__ import main

with mock.patch("tap_leadintent.api.client.backoff", return_value=0.01):
    main()
