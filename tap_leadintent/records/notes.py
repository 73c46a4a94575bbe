"""Collects what to log about a stream's records, and logs it at the stream's end."""

import logging
from collections import Counter
from collections.abc import Callable, Collection

from tap_leadintent.progress import counted

_MAX_REMEMBERED = 1_000
"""Names that are remembered, as a server that invents names could fill the memory."""

_MAX_SHOWN = 1_000
"""Characters of the names in a line."""


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

    def log(self, *, documented: bool, show: Callable[[str, int], str]) -> None:
        """Log the notes, in at most one line for each kind.

        Args:
            documented: Whether the API description shows the stream's fields; if so,
                fields without a column are a warning.
            show: Makes names, which the server chooses, safe to show, in so many
                characters.
        """
        if names := sorted(self._without_column):
            self._logger.log(
                logging.WARNING if documented else logging.INFO,
                "%s without a column, only in additional_properties: %s; %s",
                counted(len(names), "field"),
                show(", ".join(map(repr, names)), _MAX_SHOWN),
                "a column can be added in the catalog (`schema` in meltano.yml)"
                if documented
                else "infer_columns can add typed columns",
            )
        if self._contradicting:
            counts = sorted(self._contradicting.items())
            texts = [f"{name!r} in {counted(n, 'record')}" for name, n in counts]
            self._logger.warning(
                "Some values do not match the types of their columns and are only in "
                "additional_properties, or in the object that holds the field, if that "
                "is selected: %s",
                show(", ".join(texts), _MAX_SHOWN),
            )
