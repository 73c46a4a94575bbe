"""Halves a history in several places, until a page holds a part of it."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from tap_leadintent import times
from tap_leadintent.checkup import questions
from tap_leadintent.checkup.probe import ROUND, Answer, Path, Probe

Times = tuple[int, ...]
"""When a record comes by each range of its stream, in UTC seconds since 1970."""

_VARIATION = 10
"""A half that is a copy of the other one is made shorter, by fewer records than this.
Imports of exactly one size would look like queries that end at a limit."""


@dataclass
class Part:
    """A part of a history, which is halved until a page holds all of it."""

    probe: Probe
    """Asks for a range of the stream."""
    start: int
    """Where it begins, in UTC seconds since 1970."""
    end: int
    """Where it ends."""
    widest: int
    """The most seconds that a range may ask for."""
    full: int
    """A page with fewer records than this is the last one, whatever its `has_more`
    says. 0 if `has_more` is right."""
    page: Answer | None = None
    """The first page of it; None if the API refuses it, or if it was not asked for."""
    halves: list["Part"] = field(default_factory=list)
    is_crowded: bool = False
    """Whether no shorter range returns less."""
    pages: list[Answer] = field(default_factory=list)
    """Its first pages, if it cannot be halved and holds more than one."""

    @property
    def is_known(self) -> bool:
        """Whether a page holds all of it."""
        if self.page is None or self.has_more:
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

    @property
    def has_more(self) -> bool:
        """Whether its first page is not the last one."""
        if self.page is None:
            return False
        return self.page.page.has_more and len(self.page.keys) >= self.full

    @property
    def is_undivided(self) -> bool:
        """Whether there is nothing to halve."""
        return self.is_known or self.is_crowded or self.end - self.start <= 1

    def look(self) -> None:
        """Ask for its first page, unless it is too wide."""
        if self.end - self.start <= self.widest:
            self.page = self.probe.between(self.start, self.end)

    def descend(self, place: float) -> None:
        """Halve it until a page holds a part.

        Where both halves hold more than a page, one of them is halved on: the first if
        the place, from 0 to 1, is in its half.
        """
        if self.is_undivided:
            self._count()
            return
        if not self.halves:
            self._halve((self.start + self.end) // 2)
            self._count()
        unknown = list[Part]()
        for half in self.halves:
            if not half.is_settled:
                unknown.append(half)
        if unknown and not self.is_known:
            number, place = divmod(place * len(unknown), 1)
            unknown[int(number)].descend(place)

    def _count(self) -> None:
        """Follow its pages, if that is the only way to count its records."""
        if self.is_undivided and not self.is_known and self.page and not self.pages:
            self.pages = self.probe.follow(self.page.fields, questions.LONG_LIST)

    def _halve(self, middle: int) -> None:
        """Ask for the first pages of what lies before an instant, and after it."""
        before = Part(
            self.probe,
            self.start,
            middle,
            self.widest,
            self.full,
        )
        after = Part(
            self.probe,
            middle,
            self.end,
            self.widest,
            self.full,
        )
        before.look()
        if self.page and before.is_empty:
            after.page = self.page
        else:
            after.look()
        if self.page and _is_alike(before.page, after.page):
            self.is_crowded = True
        else:
            self.halves = [before, after]

    def records(self, *, is_least: bool = False) -> float:
        """Estimate how many records it holds.

        A half that was not halved on is taken to be like the other one.

        Args:
            is_least: Whether only records that it must hold are counted.
        """
        if self.halves and not self.is_known:
            total = 0.0
            for half in self.halves:
                like = half if is_least else self._like(half)
                total += like.records(is_least=is_least)
            return total
        if self.pages:
            return count_records(self.pages)
        if self.page is None:
            return 0
        shown = len(self.page.keys)
        is_more = self.has_more and not is_least
        return 2 * shown if is_more else shown

    @property
    def is_settled(self) -> bool:
        """Whether a descent would find nothing new."""
        return self.is_known or bool(self.pages)

    @property
    def is_even(self) -> bool:
        """Whether a half is like the other one wherever that is assumed.

        It likely is if the other one has no gaps.
        """
        if not self.halves or self.is_known:
            return self.is_known or self.is_counted
        for half in self.halves:
            like = self._like(half)
            if not like.is_even or (like is not half and like.has_gaps):
                return False
        return True

    @property
    def is_counted(self) -> bool:
        """Whether all of its pages have been followed."""
        return bool(self.pages) and not self.pages[-1].page.has_more

    @property
    def is_too_crowded(self) -> bool:
        """Whether it has a part that can neither be halved nor counted."""
        if self.halves:
            return any(half.is_too_crowded for half in self.halves)
        return bool(self.pages) and not self.is_counted

    @property
    def has_gaps(self) -> bool:
        """Whether a half of what holds more than a page is empty."""
        if not self.halves or self.is_known:
            return False
        return any(half.is_empty or half.has_gaps for half in self.halves)

    @property
    def is_resolved(self) -> bool:
        """Whether a descent has reached a part that is known, and not empty."""
        if self.is_undivided:
            return self.page is not None
        return any(half.is_resolved and not half.is_empty for half in self.halves)

    @property
    def is_empty(self) -> bool:
        """Whether it is known to have no records."""
        if self.page is None and self.halves:
            return all(half.is_empty for half in self.halves)
        return self.page is not None and not self.page.keys

    def _like(self, half: "Part") -> "Part":
        """Return a half, or the other one if only that is known well."""
        if half.is_resolved or half.is_empty:
            return half
        for other in self.halves:
            if other.is_resolved and not other.is_empty:
                return other
        return half

    def times(
        self,
        paths: Sequence[Path],
        every: float,
        *,
        is_least: bool = False,
    ) -> list[Times]:
        """Return the times of some of its records, each of which stands for several.

        Args:
            paths: Where records show their times by each range; empty if they do not.
            every: How many records one stands for.
            is_least: Whether only records that it must hold are counted.
        """
        if self.is_known or not self.halves:
            records = self.records(is_least=is_least)
            return self._spread(paths, records / every)
        found = list[Times]()
        for half in self.halves:
            like = half if is_least else self._like(half)
            each = like.times(
                paths,
                every,
                is_least=is_least,
            )
            if like is not half and len(each) > _VARIATION:
                each = each[half.start % _VARIATION :]
            moved = half.start - like.start
            for record in each:
                found.append(tuple(time + moved for time in record))
        return found

    def _spread(
        self,
        paths: Sequence[Path],
        records: float,
    ) -> list[Times]:
        """Return the times of so many records, as those of its page are spread."""
        # Where a part of a record is left, its place decides.
        count = int(records)
        count += (self.start % 997) / 997 < records - count
        by_range = list(map(self._shown, paths))
        first = by_range[0]
        if first and not self.start <= first[0] <= first[-1] <= self.end:
            by_range[0] = []
        found = list[Times]()
        for number in range(count):
            share = (number + 0.5) / count
            at = self.start + int(share * (self.end - self.start))
            record = list[int]()
            for shown in by_range:
                time = shown[int(share * len(shown))] if shown else at
                record.append(time)
            found.append(tuple(record))
        return found

    def _shown(self, path: Path) -> list[int]:
        """Return the times that its records show, oldest first."""
        if not (path and self.page):
            return []
        shown = filter(None, self.page.times(path))
        return sorted(map(times.parse_instant, shown))


def count_records(pages: Sequence[Answer]) -> int:
    """Return how many records pages hold."""
    count = 0
    for page in pages:
        count += len(page.keys)
    return count


def _is_alike(before: Answer | None, after: Answer | None) -> bool:
    """Return whether halves tell no more than the part that they are of.

    Both return the same, as the API rounds ranges, or it refuses to answer for one.
    """
    if before is None or after is None:
        return True
    return bool(before.keys) and before.keys == after.keys
