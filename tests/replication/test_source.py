"""Which addresses, filters and keys are the same."""

import pytest

from tap_leadintent.replication.source import filters_hash, key_mark, normalised


@pytest.mark.parametrize(
    ("address", "normal"),
    [
        ("HTTPS://API.Example.COM", "https://api.example.com"),
        ("http://[::1]:8080/b//", "http://[::1]:8080/b"),
        ("the sandbox", "the sandbox"),
        ("", ""),
    ],
)
def test_an_address_has_one_normal_form(address: str, normal: str) -> None:
    assert normalised(address) == normal
    assert normalised(normal) == normal


def test_filters_are_distinguished_whatever_the_order_of_their_fields() -> None:
    filters = {"signals": ["x", "y"], "sheet_ids": ["1"]}
    same = {"sheet_ids": ["1"], "signals": ["x", "y"]}
    assert filters_hash(filters) == filters_hash(same)
    assert filters_hash(filters) != filters_hash({"signals": ["x"]})
    assert filters_hash({}) == ""


def test_a_key_mark_distinguishes_keys_and_does_not_reveal_them() -> None:
    mark = key_mark("key-one")
    assert len(bytes.fromhex(mark)) == 4
    assert key_mark("key-two") != mark
    assert key_mark("key-one") == mark
