"""Finds out when the records of a stream come.

A list that is short enough is read completely. A longer history is halved, see
`halving.py`.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from tap_leadintent.checkup import questions, ranges
from tap_leadintent.checkup.halving import Part
from tap_leadintent.checkup.probe import Answer, Path, Probe, UnsettledError
from tap_leadintent.errors import StreamError

_DESCENTS = 24
"""Descents into a history."""

_GOLDEN = 0.618034
"""The fraction of the history between the places of two descents in a row, which
spreads them evenly."""

_ENOUGH = 12
"""After this many descents, the estimates of two halves of them are compared."""

_AGREE = 2
"""By what factor their estimates may differ."""


@dataclass
class Sample:
    """What is known of a stream's history."""

    pages: list[Answer] = field(default_factory=list)
    """All of its pages, if that are few, and if they show the times of the history."""
    part: Part | None = None
    """The history, which has been halved; None where that cannot be done."""
    descents: int = 0
    """How many descents into it have come to their end."""
    is_sure: bool = True
    """Whether the number of records is known, and not only a least number."""


def take_samples(probes: Sequence[Probe]) -> dict[Probe, Sample]:
    """Find out when the records of streams come.

    Returns:
        What is known of each stream.
    """
    samples = dict[Probe, Sample]()
    for probe in probes:
        samples[probe] = Sample()
        with suppress(StreamError, UnsettledError):
            samples[probe].pages = _list(probe)
    left = list[Probe]()
    for probe in probes:
        if probe.ranges and not samples[probe].pages:
            left.append(probe)
    for number, probe in enumerate(left):
        share = probe.api.left // (len(left) - number)
        with suppress(StreamError, UnsettledError):
            samples[probe].pages = _read(probe, share // 2)
    # The streams take turns, so that each gets as many of the requests.
    for number in range(_DESCENTS):
        for probe in left:
            sample = samples[probe]
            if sample.pages:
                continue
            with suppress(StreamError, UnsettledError):
                sample.part = sample.part or _begin(probe)
                sample.part.descend(number * _GOLDEN % 1)
                sample.descents += 1
    for sample in samples.values():
        if sample.part:
            sample.is_sure = _is_sure(sample.part, sample.descents)
    return samples


def _is_sure(part: Part, descents: int) -> bool:
    """Return whether the records of a history can be estimated from its samples.

    Two halves of the descents have to agree, so that the records do not come in a few
    bursts of very different sizes.

    Args:
        part: The history.
        descents: How many descents there were.
    """
    if part.is_even:
        return True
    if part.is_too_crowded or descents < _ENOUGH:
        return False
    estimates = list[float]()
    for first in range(2):
        again = Part(
            part.probe,
            part.start,
            part.end,
            part.widest,
            part.full,
            part.page,
        )
        for number in range(
            first,
            descents,
            2,
        ):
            # Nearly all pages are known.
            with suppress(StreamError, UnsettledError):
                again.descend(number * _GOLDEN % 1)
        estimates.append(again.records())
    return max(estimates) <= _AGREE * min(estimates)


def _list(probe: Probe) -> list[Answer]:
    """Return the pages of the list; none if it goes on, or lacks what is needed."""
    pages = probe.pages(questions.LONG_LIST)
    if pages[-1].page.has_more:
        return []
    if not (probe.stream.is_incremental and probe.records):
        return pages
    if probe.list_fields or not time_path(probe):
        return []
    case, _ = questions.is_list_complete(probe)
    return pages if case == "yes" else []


def _read(probe: Probe, most: int) -> list[Answer]:
    """Return the pages of the history; none if there are more.

    Args:
        probe: The probe of the stream.
        most: How many pages are read at most.
    """
    is_worth_it = most > questions.LONG_LIST and probe.stream.is_incremental
    if not (is_worth_it and time_path(probe)):
        return []
    first = probe.ranges[0]
    start = _start(probe)
    if probe.api.now - start > _widest(probe):
        return []
    pages = first.follow(first.fields_of(start, probe.api.now), most)
    read = set[str]()
    for page in pages:
        read.update(page.keys)
    if pages[-1].page.has_more or questions.lacks_records(
        probe,
        read,
        start,
    ):
        return []
    return pages


def _begin(probe: Probe) -> Part:
    """Return the history of a stream that is to be halved.

    Raises:
        UnsettledError: Its first time range does not return what it is asked for.
    """
    first = probe.ranges[0]
    widest = _widest(probe)
    if not widest:
        raise UnsettledError
    part = Part(
        first,
        _start(probe),
        probe.api.now,
        widest,
        _full_page(probe),
    )
    part.look()
    return part


def _full_page(probe: Probe) -> int:
    """Return below how many records a page is the last one, if it does not say so."""
    most = 0
    with suppress(UnsettledError):
        if questions.says_last_page(probe)[0] == "no":
            for answer in probe.known:
                most = max(most, len(answer.keys))
    return most


def _widest(probe: Probe) -> int:
    """Return how wide the first range may be that returns all that it is asked for.

    Returns:
        The seconds; 0 if it is ignored, or if windows of runs are cut, too.
    """
    first = probe.ranges[0]
    if ranges.ignored_bounds(first):
        return 0
    with suppress(UnsettledError):
        if ranges.may_be_a_year_wide(first)[0] != "cut":
            return probe.api.now
    # Where one range cannot tell, another one of the stream may.
    for each in probe.ranges:
        with suppress(UnsettledError):
            if ranges.may_be_a_window_wide(each)[0] == "cut":
                return 0
    return probe.stream.settings.window


def time_path(probe: Probe) -> Path:
    """Return the path of the time that the first range is about, if records show it."""
    with suppress(UnsettledError):
        return ranges.find_anchor(probe.ranges[0]).path
    return ()


def time_paths(probe: Probe) -> list[Path]:
    """Return the paths of the times that the ranges are about, as records show them."""
    paths = list[Path]()
    for each in probe.ranges:
        paths.append(probe.stream.time_fields.get(each.range, ()))
    paths[0] = time_path(probe)
    return paths


def _start(probe: Probe) -> int:
    """Return when the history begins that runs read, in UTC seconds since 1970."""
    if not probe.stream.is_incremental:
        return 0
    earliest = ranges.earliest(probe.ranges[0])
    return max(earliest, probe.stream.settings.start)
