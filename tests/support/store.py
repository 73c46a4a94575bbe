"""A target for the model's rows."""

from typing import Any

import msgspec

from tap_leadintent.singer.writer import Writer

_WRITER = Writer()


def written(message: Any) -> Any:
    """Give a message as a target reads it."""
    return msgspec.json.decode(_WRITER.format_message(message))


class KilledError(BaseException):
    """Stands for SIGKILL: nothing after it is written."""


class Store:
    """An upsert target that keeps only what a STATE has sealed when it is killed."""

    def __init__(self) -> None:
        self.rows: dict[str, Any] = {}
        self.state: dict[str, Any] = {}
        self.messages: list[dict[str, Any]] = []
        self._open: dict[str, Any] = {}
        self._left: int | None = None

    def begin(self, killed_after: int | None) -> None:
        """Begin a run, killed after so many messages."""
        self._open, self._left, self.messages = {}, killed_after, []

    def write_message(self, message: Any) -> None:
        """Take a message of the tap."""
        if self._left is not None:
            if self._left == 0:
                raise KilledError
            self._left -= 1
        content = written(message)
        self.messages.append(content)
        if content["type"] == "RECORD":
            record = content["record"]
            version = record["additional_properties"]["version"]
            self._open[record["id"]] = version
        elif content["type"] == "STATE":
            self.rows |= self._open
            self._open = {}
            self.state = content["value"]

    def of_type(self, kind: str) -> list[dict[str, Any]]:
        """Give the messages of one type of the last run."""
        return [message for message in self.messages if message["type"] == kind]

    def end(self) -> None:
        """End a run that came to its end."""
        self.rows |= self._open
