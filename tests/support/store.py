"""A target that keeps rows in memory."""

from typing import Any

import msgspec

from tap_leadintent.singer.writer import Writer
from tests.support.helpers import Json

_WRITER = Writer()


def written(message: Any) -> Any:
    """Return a message as a target reads it."""
    return msgspec.json.decode(_WRITER.format_message(message))


class KilledError(BaseException):
    """Stands for SIGKILL: the tap writes nothing after it."""


class Store:
    """An upsert target.

    If the tap is killed, it keeps what came before the last STATE, and with `drains`
    all other rows as well.
    """

    def __init__(self, *, drains: bool = False) -> None:
        self._drains = drains
        self.rows: Json = {}
        self.state: Json = {}
        self.messages: list[Json] = []
        self._pending: Json = {}
        self._remaining: int | None = None

    def begin(self, killed_after: int | None) -> None:
        """Begin a run, which may be killed after a number of messages."""
        self._pending = {}
        self._remaining = killed_after
        self.messages = []

    def write_message(self, message: Any) -> None:
        """Read a message of the tap."""
        if self._remaining is not None:
            if self._remaining == 0:
                if self._drains:
                    self.rows |= self._pending
                raise KilledError
            self._remaining -= 1
        content = written(message)
        self.messages.append(content)
        if content["type"] == "RECORD":
            record = content["record"]
            version = record["additional_properties"]["version"]
            self._pending[record["id"]] = version
        elif content["type"] == "STATE":
            self.rows |= self._pending
            self._pending = {}
            self.state = content["value"]

    def of_type(self, kind: str) -> list[Json]:
        """Return the messages of one type of the last run."""
        return [message for message in self.messages if message["type"] == kind]

    def records(self) -> list[Json]:
        """Return the records of the last run, in order."""
        return [message["record"] for message in self.of_type("RECORD")]

    def end(self) -> None:
        """End a run that was not killed."""
        self.rows |= self._pending
