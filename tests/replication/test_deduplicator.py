"""What was emitted last of a record and is unchanged is not emitted again."""

from tap_leadintent.replication.reader import Deduplicator


def test_it_remembers_the_first_130_000_and_keeps_up_with_their_changes() -> None:
    emitted = Deduplicator()
    for number in range(130_001):
        assert emitted.take(number, b"a")
    assert [emitted.take(number, b"a") for number in (0, 129_999)] == [False, False]
    assert [emitted.take(130_000, b"a") for _ in range(2)] == [True, True]
    assert [emitted.take(0, b"b") for _ in range(2)] == [True, False]
