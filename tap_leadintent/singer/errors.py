"""The errors that end a run, or one of its streams.

* TapError: the command line logs it and ends with exit code 1
  + ConfigError: before streams are read
  + RunError: after streams have failed
    - OutputError: at once, because nothing can be written
  + RecordError: ends a stream; the others can still be read

A tap may have more, such as errors of its API.
"""


class TapError(Exception):
    """Ends the command with exit code 1; its lines are the last of the log."""

    def __init__(self, message: str) -> None:
        """Keep the message.

        Args:
            message: What happened and what to do, in one line for each problem.
        """
        super().__init__(message)
        self.message = message


class ConfigError(TapError):
    """The configuration cannot work."""


class RunError(TapError):
    """Some streams of a run failed, or none could be read."""


class OutputError(RunError):
    """Standard output cannot be written, so no stream can go on."""


class RecordError(TapError):
    """Records of a stream cannot be mapped or written."""
