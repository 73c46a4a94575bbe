"""The adapter that all connections go through."""

from __future__ import annotations

import inspect

from requests.adapters import HTTPAdapter

from tap_leadintent.api.session import BoundedAdapter


def test_an_adapter_takes_the_options_of_the_one_it_stands_for() -> None:
    ours = [*inspect.signature(BoundedAdapter.send).parameters]
    assert ours == [*inspect.signature(HTTPAdapter.send).parameters]
