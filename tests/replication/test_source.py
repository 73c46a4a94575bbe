"""Which addresses, filters and keys are the same."""

from __future__ import annotations

import pytest

from tap_leadintent.replication.source import filters_hash, key_mark, normalised


@pytest.mark.parametrize(
    ("address", "normal"),
    [
        ("https://api.example.com", "https://api.example.com"),
        ("https://api.example.com/", "https://api.example.com"),
        ("HTTPS://API.Example.COM", "https://api.example.com"),
        ("https://api.example.com:443//", "https://api.example.com"),
        ("https://api.example.com:8443/", "https://api.example.com:8443"),
        ("http://localhost:80/Root/", "http://localhost/Root"),
        ("http://[::1]:8080/a/../b", "http://[::1]:8080/b"),
        ("https://bücher.example", "https://xn--bcher-kva.example"),
        ("the sandbox", "the sandbox"),
        ("", ""),
    ],
)
def test_an_address_has_one_normal_form(address: str, normal: str) -> None:
    assert normalised(address) == normal
    assert normalised(normal) == normal


@pytest.mark.parametrize("address", ["http://[::1", "https://a:port"])
def test_what_is_not_an_address_stays_as_it_is(address: str) -> None:
    assert normalised(address) == address


def test_filters_are_told_apart_and_order_does_not_matter() -> None:
    filters = {"signals": ["x", "y"], "sheet_ids": ["1"]}
    same = {"sheet_ids": ["1"], "signals": ["y", "x"]}
    assert filters_hash(filters) == filters_hash(same)
    assert filters_hash(filters) != filters_hash({"signals": ["x"]})
    assert filters_hash({}) == ""


def test_a_mark_tells_keys_apart_but_not_what_they_are() -> None:
    mark = key_mark("key-one", "https://a.example")
    assert len(mark) == 8
    assert int(mark, 16) >= 0
    others = {
        key_mark("key-two", "https://a.example"),
        key_mark("key-one", "https://b.example"),
    }
    assert mark not in others
    assert key_mark("key-one", "https://a.example") == mark
