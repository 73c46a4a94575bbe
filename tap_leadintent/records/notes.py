"""Collects what to log about a stream's records, and logs it at the stream's end."""

import logging
import re
from collections import Counter
from collections.abc import Collection, Mapping

from tap_leadintent.progress import counted
from tap_leadintent.singer.log import quote

_MAX_REMEMBERED = 1_000
"""Names that are remembered, as a server that invents names could fill the memory."""

_MAX_SHOWN = 1_000
"""Characters of the names in a line."""

_MISSING = re.compile(
    "error|warn|partial|incomplete|timed_?out|timeout|truncat|fail|skipped|missing",
    re.IGNORECASE,
)
"""Names of fields that may say that records are missing."""


class RecordNotes:
    """The notes on the records of one stream."""

    def __init__(self, logger: logging.Logger) -> None:
        """Create the notes of a stream.

        Args:
            logger: Gets the lines.
        """
        self._logger = logger
        self._warned: set[str] = set()
        self._without_column: set[str] = set()
        self._contradicting: Counter[str] = Counter()
        self._envelope: dict[str, bool] = {}
        self._repeated_keys: set[int] = set()
        self._differing: set[str] = set()

    def warn_once(self, text: str) -> None:
        """Log a warning at once, unless the same text was logged before.

        Args:
            text: The warning. All texts are kept in memory, so there must be few.
        """
        if text not in self._warned:
            self._warned.add(text)
            self._logger.warning("%s", text)

    def note_without_column(self, names: Collection[str]) -> None:
        """Note fields of a record that only `additional_properties` holds.

        Args:
            names: Their names.
        """
        known = self._without_column
        if len(known) < _MAX_REMEMBERED:
            known.update(names)

    def note_contradiction(self, name: str) -> None:
        """Note that a record's value contradicts the type of its column.

        Args:
            name: The column, one of the schema's.
        """
        self._contradicting[name] += 1

    def note_envelope(self, fields: Mapping[str, bool]) -> None:
        """Note undocumented fields beside the records of a page.

        Args:
            fields: Their names; whether each has a value that is not empty.
        """
        for name, has_value in fields.items():
            if name in self._envelope or len(self._envelope) < _MAX_REMEMBERED:
                self._envelope[name] = has_value or self._envelope.get(name, False)

    def note_repeated_key(self, key: int, names: Collection[str]) -> None:
        """Note that a page has two records with the same key.

        Args:
            key: A hash of the key.
            names: The fields in which the records differ.
        """
        if len(self._repeated_keys) < _MAX_REMEMBERED:
            self._repeated_keys.add(key)
            self._differing.update(names)

    def log(self, *, documented: bool) -> None:
        """Log the notes, in at most one line for each kind.

        Args:
            documented: Whether the API description shows the stream's fields; if so,
                fields without a column are a warning.
        """
        if names := sorted(self._without_column):
            self._logger.log(
                logging.WARNING if documented else logging.INFO,
                "%s without a column, only in additional_properties: %s; `meltano "
                "config set tap-leadintent _schema` adds columns, see docs/columns.md",
                counted(len(names), "field"),
                quote(", ".join(map(repr, names)), _MAX_SHOWN),
            )
        if self._contradicting:
            counts = sorted(self._contradicting.items())
            texts = [f"{name!r} in {counted(n, 'record')}" for name, n in counts]
            self._logger.warning(
                "Some values do not match the types of their columns and are only in "
                "additional_properties, or in the object that holds the field, if that "
                "is selected: %s",
                quote(", ".join(texts), _MAX_SHOWN),
            )
        self._log_envelope()
        if self._repeated_keys:
            self._logger.warning(
                "%s came several times on one page with different contents, and a "
                "table keeps one row of each; they differ in %s; to keep all rows, add "
                "one of these to the key, as docs/recipes.md does with the sheet",
                counted(len(self._repeated_keys), "key"),
                quote(", ".join(sorted(self._differing)), _MAX_SHOWN),
            )

    def _log_envelope(self) -> None:
        alarming = {n for n, v in self._envelope.items() if v and _MISSING.search(n)}
        if others := sorted(self._envelope.keys() - alarming):
            self._logger.info(
                "Pages of the API also have %s, which its description does not show",
                quote(", ".join(others), _MAX_SHOWN),
            )
        if alarming:
            self._logger.warning(
                "Pages of the API have %s, which may say that records are missing; ask "
                "the API's support what it means",
                quote(", ".join(sorted(alarming)), _MAX_SHOWN),
            )
