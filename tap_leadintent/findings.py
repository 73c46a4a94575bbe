"""What to log about a stream: one table, and one way to collect and log it."""

import logging
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from enum import Enum

from tap_leadintent.singer.log import quote
from tap_leadintent.words import counted

_MAX_REMEMBERED = 1_000
"""Names that are remembered, as a server that invents names could fill the memory."""

_MAX_SHOWN = 1_000
"""Characters of the names in a line."""

_MAX_KEPT = 100
"""Names that the state keeps; more would make it long."""

_MAX_LENGTH = 100
"""Characters of a name that the state keeps."""


class Finding(Enum):
    """The kinds of findings, each with the text of its line.

    The text may have `{names}`, `{counts}` (the names with the number of records) and
    `{fields}` (the number of the names).
    """

    REPAIRED = (
        "A record contained what no warehouse can store: U+0000 or a lone surrogate "
        "became U+FFFD, NaN or an infinity null, and a number beyond 1e308 its text"
    )
    NO_ID = (
        "A record has no id, so its key is made from all its content: when the record "
        "changes, it becomes another row"
    )
    NO_KEY = "Records without {names} are left out"
    BROKEN = "Records that cannot be decoded are left out"
    NO_HAS_MORE = (
        "Tell the API's support. Pages without cursor.has_more and cursor.next were "
        "taken for the last ones of their query"
    )
    UNREADABLE = (
        "There is nothing to do if this stays rare. The API cannot return yet what "
        "came after {names}; the next run reads it"
    )
    OUTSIDE_FILTER = (
        "Ask the API's support how it reads the filter: some records "
        "do not match the filter {names}"
    )
    OUTSIDE_RANGE = (
        "Ask the API's support whether records are missing: some "
        "lie outside the requested range of {names}, so the API may use another time "
        "zone or whole days, or ignore a bound"
    )
    UNKNOWN_FIELDS = (
        "{fields} without a column, only in additional_properties: {names}; `meltano "
        "config set tap-leadintent _schema` adds columns, see docs/columns.md"
    )
    ABSENT_FIELDS = "No record has the fields {names}"
    NOT_EXCLUDED = "Check exclude_fields, as no record has {names}"
    MISMATCH = (
        "See docs/columns.md if this stays. Some values do not match the types of "
        "their columns and are kept in additional_properties instead: {counts}"
    )
    ENVELOPE = "Pages of the API also have {names}, which its description does not show"
    ODD_PAGES = (
        "Ask the API's support whether records are missing. Some pages differ from all "
        "others, also when they are asked for again, in {names}"
    )
    EMPTY_PAGES = (
        "Ask the API's support why queries do not end: 20 pages in a row had no "
        "records, but said that there are more"
    )
    REPEATED_CURSOR = (
        "Tell the API's support. Empty pages with the cursor of their own request were "
        "taken for the last ones of their query"
    )
    REPEATED_KEYS = (
        "A key came several times on one page with different contents, and a table "
        "keeps one row of it; the records differ in {names}; to keep all rows, add one "
        "of these to the key, as docs/recipes.md does with the sheet"
    )
    CAPPED_LIST = (
        "Ask the API's support whether records are missing. The list ended after "
        "{names}, which may be a limit of the API"
    )
    CAPPED = (
        "Ask the API's support whether records are missing. A query ended after "
        "{names}, which may be a limit of the API"
    )


_ONCE = (
    Finding.UNKNOWN_FIELDS,
    Finding.NOT_EXCLUDED,
    Finding.ENVELOPE,
    Finding.CAPPED_LIST,
)
"""The kinds that later runs do not log again."""


class Findings:
    """The findings about one stream."""

    def __init__(
        self,
        logger: logging.Logger,
        *,
        is_documented: bool = False,
        known: Collection[str] = (),
    ) -> None:
        """Create it for a stream.

        Args:
            logger: Gets the lines.
            is_documented: Whether a field without a column is a surprise.
            known: Names that earlier runs have logged, for the kinds in `_ONCE`.
        """
        self._logger = logger
        self._known = set(known)
        self._levels = {
            Finding.ENVELOPE: logging.INFO,
            Finding.ABSENT_FIELDS: logging.DEBUG,
            Finding.UNKNOWN_FIELDS: logging.WARNING if is_documented else logging.INFO,
        }
        self._found = defaultdict[Finding, Counter[str]](Counter)

    def note(
        self,
        finding: Finding,
        names: Iterable[str] = ("",),
    ) -> None:
        """Note a finding.

        Args:
            finding: Its kind.
            names: What it is about, such as fields, each as often as it was found.
        """
        found = self._found[finding]
        for name in names:
            if name in found or len(found) < _MAX_REMEMBERED:
                found[name] += 1

    def take(self, finding: Finding) -> Mapping[str, int]:
        """Remove a finding, because the caller reports it.

        Returns:
            Its names, and how often each was noted.
        """
        return self._found.pop(finding, Counter[str]())

    @property
    def remembered_names(self) -> list[str]:
        """The names of the kinds in `_ONCE` that this or an earlier run has found.

        Names that may be data are left out, and so are logged by each run.
        """
        names = set(self._known)
        for finding in _ONCE:
            names.update(self._found[finding])
        for_state = sorted(filter(_is_for_state, names))
        return for_state[:_MAX_KEPT]

    def unreported(self, finding: Finding) -> list[str]:
        """Return the names of a finding, without what an earlier run has named."""
        known = self._known if finding in _ONCE else set()
        return sorted(self._found[finding].keys() - known)

    def log(self) -> None:
        """Log what has been found, in one line for each kind."""
        for finding in Finding:
            found = self._found[finding]
            names = self.unreported(finding)
            if not names:
                continue
            counts = (f"{n!r} in {counted(found[n], 'record')}" for n in names)
            text = finding.value.format(
                names=quote(", ".join(names), _MAX_SHOWN),
                counts=quote(", ".join(counts), _MAX_SHOWN),
                fields=counted(len(names), "field"),
            )
            self._logger.log(
                self._levels.get(finding, logging.WARNING),
                "%s",
                text,
            )


def _is_for_state(name: str) -> bool:
    """Return whether a name is short and looks like the name of a field.

    An API may use data as names, such as an e-mail address or a telephone number.
    """
    has_letters = any(map(str.isalpha, name))
    return has_letters and "@" not in name and len(name) <= _MAX_LENGTH
