"""What is worth a line about a stream: one table, and one way to collect and log it."""

import logging
from collections import Counter
from collections.abc import Collection, Hashable, Iterable
from dataclasses import dataclass, field
from enum import Enum

from tap_leadintent.progress import counted
from tap_leadintent.singer.log import quote

_MAX_REMEMBERED = 1_000
"""Names that are remembered, as a server that invents names could fill the memory."""

_MAX_SHOWN = 1_000
"""Characters of the names in a line."""


_MAX_KEPT = 100
"""Fields that the state names; more would make it long."""


@dataclass(frozen=True, eq=False)
class _Kind:
    level: int
    text: str
    """It may have `{names}`, `{counts}` (the names with the number of records) and
    `{subjects}`."""
    noun: str = "record"
    """What `{subjects}` counts."""
    is_urgent: bool = False
    """Whether it is logged when it is found, and not at the stream's end."""


class Finding(Enum):
    """The kinds of findings."""

    REPAIRED = _Kind(
        logging.WARNING,
        "A record contained what no warehouse can store: U+0000 or a lone surrogate "
        "became U+FFFD, NaN or an infinity null, and a number beyond 1e308 its text",
        is_urgent=True,
    )
    NO_ID = _Kind(
        logging.WARNING,
        "A record has no id, so its key is made from all its content: when the record "
        "changes, it becomes another row",
        is_urgent=True,
    )
    NO_KEY = _Kind(
        logging.WARNING, "Records without {names} are left out", is_urgent=True
    )
    TOTAL = _Kind(
        logging.WARNING,
        "Ask the API's support whether records are missing: {names}",
        is_urgent=True,
    )
    OUTSIDE_FILTER = _Kind(
        logging.WARNING,
        "Some records do not match the filter {names}, so the API may read it in "
        "another way; ask the API's support",
        is_urgent=True,
    )
    OUTSIDE_RANGE = _Kind(
        logging.WARNING,
        "Some records lie outside the requested range of {names}, so the API may use "
        "another time zone or whole days, or ignore a bound, and other records may be "
        "missing; ask the API's support",
        is_urgent=True,
    )
    UNKNOWN_FIELDS = _Kind(
        logging.WARNING,
        "{subjects} without a column, only in additional_properties: {names}; `meltano "
        "config set tap-leadintent _schema` adds columns, see docs/columns.md",
        noun="field",
    )
    UNTYPED_FIELDS = _Kind(logging.INFO, UNKNOWN_FIELDS.text, noun="field")
    MISMATCH = _Kind(
        logging.WARNING,
        "Some values do not match the types of their columns and are kept in "
        "additional_properties instead: {counts}",
    )
    ENVELOPE = _Kind(
        logging.INFO,
        "Pages of the API also have {names}, which its description does not show",
    )
    REPEATED_KEYS = _Kind(
        logging.WARNING,
        "{subjects} came several times on one page with different contents, and a "
        "table keeps one row of each; they differ in {names}; to keep all rows, add "
        "one of these to the key, as docs/recipes.md does with the sheet",
        noun="key",
    )
    CAPPED = _Kind(
        logging.WARNING,
        "A query ended after {names} with a page as full as the others, so the API "
        "may have left out further ones; if there are more, ask the API's support",
    )


_ABOUT_FIELDS = {Finding.UNKNOWN_FIELDS, Finding.UNTYPED_FIELDS}
"""Findings that are worth a line once, and not in each run."""


@dataclass
class _Found:
    names: Counter[str] = field(default_factory=Counter)
    subjects: set[Hashable] = field(default_factory=set)


class Findings:
    """The findings about one stream."""

    def __init__(
        self, logger: logging.Logger, known_fields: Collection[str] = ()
    ) -> None:
        """Create it for a stream.

        Args:
            logger: Gets the lines.
            known_fields: Fields without a column that an earlier run has named.
        """
        self._logger, self._known_fields = logger, known_fields
        self._found: dict[Finding, _Found] = {}

    def note(
        self,
        finding: Finding,
        names: Iterable[str] = (),
        subjects: Iterable[Hashable] = (),
    ) -> None:
        """Note a finding.

        Args:
            finding: Its kind.
            names: What it is about, such as fields.
            subjects: What is counted, if that is not the names.
        """
        names = [*names]
        if not names and "{names}" in finding.value.text:
            return
        is_first = finding not in self._found
        found = self._found.setdefault(finding, _Found())
        known = found.names
        known.update(n for n in names if n in known or len(known) < _MAX_REMEMBERED)
        if len(found.subjects) < _MAX_REMEMBERED:
            found.subjects.update(subjects)
        if is_first and finding.value.is_urgent:
            self._log(finding, found)

    @property
    def fields(self) -> list[str]:
        """The fields without a column that this run or an earlier one has found."""
        found = {*self._known_fields}
        for finding in _ABOUT_FIELDS & self._found.keys():
            found |= self._found[finding].names.keys()
        return sorted(found)[:_MAX_KEPT]

    def log(self) -> None:
        """Log what has been found, in one line for each kind."""
        for finding in Finding:
            if finding in self._found and not finding.value.is_urgent:
                self._log(finding, self._found[finding])

    def _log(self, finding: Finding, found: _Found) -> None:
        kind, names = finding.value, sorted(found.names)
        if finding in _ABOUT_FIELDS:
            names = sorted(found.names.keys() - self._known_fields)
            if not names:
                return
        counts = (f"{n!r} in {counted(found.names[n], 'record')}" for n in names)
        text = kind.text.format(
            names=quote(", ".join(names), _MAX_SHOWN),
            counts=quote(", ".join(counts), _MAX_SHOWN),
            subjects=counted(len(found.subjects) or len(names), kind.noun),
        )
        self._logger.log(kind.level, "%s", text)
