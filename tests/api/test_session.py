"""The adapter that all connections go through."""

from __future__ import annotations

import inspect

from requests.adapters import HTTPAdapter

from tap_leadintent.api.session import BoundedAdapter

# Other tests of this process may stand something else in for it later.
THEIRS = [*inspect.signature(HTTPAdapter.send).parameters]


def test_an_adapter_takes_the_options_of_the_one_it_stands_for() -> None:
    assert [*inspect.signature(BoundedAdapter.send).parameters] == THEIRS
