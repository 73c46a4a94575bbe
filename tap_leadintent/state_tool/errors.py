"""What ends the command: one line, and exit code 1."""

from __future__ import annotations

import click

from tap_leadintent.redaction import Secret

_NO_SECRET = Secret(None)


class StateError(click.ClickException):
    """The command cannot do what it was asked for."""

    def __init__(self, message: str, secret: Secret = _NO_SECRET) -> None:
        """Keep the message, as one line that a terminal can show.

        Args:
            message: What is wrong and what to do.
            secret: Hides the key.
        """
        super().__init__(secret.summarize(message))
