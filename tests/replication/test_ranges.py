"""What is sent for a window."""

from __future__ import annotations

from tap_leadintent.replication.ranges import range_fields
from tap_leadintent.replication.windows import Window


def test_a_window_asks_for_one_second_more_than_it_covers() -> None:
    assert range_fields("date_found", Window(60, 120)) == {
        "date_found": {
            "start_time": "1970-01-01T00:00:59Z",
            "end_time": "1970-01-01T00:02:00Z",
        }
    }
