"""Finds out when the records of a stream come.

A list that is short enough is read completely. A longer history is halved, in several
places, until a page holds a part of it.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from tap_leadintent import times
from tap_leadintent.checkup import questions, ranges
from tap_leadintent.checkup.probe import ROUND, Answer, Path, Probe, UnsettledError
from tap_leadintent.errors import StreamError

_DESCENTS = 24
"""Descents into a history."""

_GOLDEN = 0.618034
"""By what part of the history one descent lies after another, so that they are spread
evenly."""

_FEW = 10
"""So few records are no sign of such an end, however often they come."""


@dataclass
class Part:
    """A part of a history, which is halved until a page holds all of it."""

    probe: Probe
    start: int
    end: int
    page: Answer | None = None
    """The first page of it; None if the API refuses it, or if it was not asked for."""
    halves: list["Part"] = field(default_factory=list)

    @property
    def is_known(self) -> bool:
        """Whether a page holds all of it."""
        if self.end - self.start <= 1:
            return True
        if self.page is None or self.page.page.has_more:
            return False
        records = len(self.page.keys)
        if not records or records % ROUND:
            return True
        # The API may have ended the query. The halves say whether it has.
        in_halves = set[str]()
        for half in self.halves:
            if half.page:
                in_halves.update(half.page.keys)
        return in_halves == {*self.page.keys}

    def look(self) -> None:
        """Ask for its first page."""
        self.page = self.probe.between(self.start, self.end)

    def descend(self, place: float) -> None:
        """Halve it until a page holds a part.

        Where both halves hold more than a page, one of them is halved on: the first if
        the place, from 0 to 1, is in its half.
        """
        if self.is_known:
            return
        if not self.halves:
            self._halve((self.start + self.end) // 2)
        unknown = [half for half in self.halves if not half.is_known]
        if unknown and not self.is_known:
            number, place = divmod(place * len(unknown), 1)
            unknown[int(number)].descend(place)

    def _halve(self, middle: int) -> None:
        """Ask for the first pages of what lies before an instant, and after it."""
        before = Part(
            self.probe,
            self.start,
            middle,
        )
        after = Part(
            self.probe,
            middle,
            self.end,
        )
        before.look()
        if self.page and before.is_empty:
            after.page = self.page
        else:
            after.look()
        self.halves = [before, after]

    def records(self) -> float:
        """Estimate how many records it holds.

        A half that was not halved on is taken to be like the other one.
        """
        if self.halves and not self.is_known:
            total = 0.0
            for half in self.halves:
                total += self._like(half).records()
            return total
        if self.page is None:
            return 0
        shown = len(self.page.keys)
        return 2 * shown if self.page.page.has_more else shown

    @property
    def is_resolved(self) -> bool:
        """Whether a descent has reached a part that is known, and not empty."""
        if self.is_known:
            return self.page is not None
        return any(half.is_resolved and not half.is_empty for half in self.halves)

    @property
    def is_empty(self) -> bool:
        """Whether it is known to have no records."""
        return self.page is not None and not self.page.keys

    def _like(self, half: "Part") -> "Part":
        """Return a half, or the other one if only that is known well."""
        if not half.is_resolved:
            for other in self.halves:
                if other.is_resolved and not other.is_empty:
                    return other
        return half

    def times(
        self,
        path: Path,
        every: float,
    ) -> list[int]:
        """Return when its records come, each of which stands for several.

        Args:
            path: Where records show their times; empty if they do not.
            every: For how many records one stands.
        """
        if self.is_known or not self.halves:
            return self._spread(path, self.records() / every)
        found = list[int]()
        for half in self.halves:
            like = self._like(half)
            at = like.times(path, every)
            if like is not half and len(at) > _FEW:
                # Imports of one size would look like queries that are ended early.
                at = at[half.start % _FEW :]
            moved = half.start - like.start
            found += [time + moved for time in at]
        return found

    def _spread(
        self,
        path: Path,
        records: float,
    ) -> list[int]:
        """Return the times of so many records, as those of its page are spread."""
        # Where a part of a record is left, its place decides.
        count = int(records)
        count += (self.start % 997) / 997 < records - count
        shown = self._shown(path)
        found = list[int]()
        for number in range(count):
            share = (number + 0.5) / count
            if shown:
                found.append(shown[int(share * len(shown))])
            else:
                found.append(self.start + int(share * (self.end - self.start)))
        return found

    def _shown(self, path: Path) -> list[int]:
        """Return the times that its records show, if all lie within it."""
        if not (path and self.page):
            return []
        found = list[int]()
        for time in self.page.times(path):
            if not time:
                return []
            second = times.parse_instant(time)
            if not self.start <= second <= self.end:
                return []
            found.append(second)
        return sorted(found)


@dataclass
class Sample:
    """What is known of a stream's history."""

    pages: list[Answer] = field(default_factory=list)
    """All of its pages, if that are few, and if they show the times of the history."""
    part: Part | None = None
    """The history, which has been halved; None where that cannot be done."""


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
    left = [probe for probe in probes if probe.ranges and not samples[probe].pages]
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
    return samples


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
    if not (is_worth_it and time_path(probe) and _is_usable(probe.ranges[0])):
        return []
    first = probe.ranges[0]
    start = _start(probe)
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
    if not _is_usable(probe.ranges[0]):
        raise UnsettledError
    part = Part(
        probe.ranges[0],
        _start(probe),
        probe.api.now,
    )
    part.look()
    return part


def _is_usable(probe: Probe) -> bool:
    """Return whether the range returns all that it is asked for, and no more."""
    if ranges.ignored_bounds(probe):
        return False
    with suppress(UnsettledError):
        return ranges.may_be_a_year_wide(probe)[0] != "cut"
    return True


def time_path(probe: Probe) -> Path:
    """Return the path of the time that the first range is about, if records show it."""
    with suppress(UnsettledError):
        return ranges.find_anchor(probe.ranges[0]).path
    return ()


def _start(probe: Probe) -> int:
    """Return when the history begins that runs read, in UTC seconds since 1970."""
    if not probe.stream.is_incremental:
        return 0
    earliest = ranges.earliest(probe.ranges[0])
    return max(earliest, probe.stream.settings.start)
