"""Which filters and keys are the same."""

from tap_leadintent.replication.source import filters_hash, key_mark


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
