"""What each stream of a run has, whether it reads an endpoint or not."""

from singer_sdk import Tap

from tap_leadintent.api.run_context import RunContext
from tap_leadintent.progress import StreamStats
from tap_leadintent.singer.stream import SingerStream


class RunStream(SingerStream):
    """A stream that knows its run, and counts what is done for it."""

    def __init__(self, tap: Tap, run_context: RunContext) -> None:
        """Create the stream for a run.

        Args:
            tap: The tap, with its settings and state.
            run_context: What the requests of all streams share.
        """
        super().__init__(tap)
        self.run_context = run_context
        """What the requests of all streams share."""
        self.stats = StreamStats(monotonic=run_context.limits.monotonic)
        """Counts the records and requests of the stream."""
        # The SDK gives milliseconds.
        self.run_began = tap.initialized_at // 1000
        """When the run began, in UTC seconds since 1970."""

    @property
    def newest_covered(self) -> str | None:
        """The newest covered instant of the stream's first time range."""
        return None

    def complete_to(self) -> int:
        """Return up to when the responses of the run can be complete.

        Returns:
            When the run began, or the server's time then if that is earlier, in UTC
            seconds since 1970.
        """
        return self.run_context.clock.complete_to(self.run_began)
