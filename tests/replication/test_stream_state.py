"""What is known of a stream from earlier runs."""

from __future__ import annotations

from tap_leadintent.replication.plan import Asked
from tap_leadintent.replication.source import Source
from tap_leadintent.replication.stream_state import StreamState

KEY = "the-key-of-acme"


def test_its_repr_does_not_show_the_key() -> None:
    config = {"base_url": "https://api.example.com", "api_key": KEY, "filters": {}}
    asked = Asked.by({**config, "lookback_minutes": 60})
    entry = StreamState({}, Source.of(config, {}), asked, KEY)
    assert KEY not in repr(entry)
