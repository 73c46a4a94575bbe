"""The tap: its settings, its streams, and what a run does with them.

`singer/tap.py` has what every tap needs, and calls the methods here.
"""

from collections.abc import Iterable, Sequence
from functools import partial
from operator import methodcaller

from typing_extensions import override

from tap_leadintent.api.clock import ServerClock
from tap_leadintent.api.limits import Limits
from tap_leadintent.api.run_context import RunContext
from tap_leadintent.api.session import new_session
from tap_leadintent.api.traffic import Traffic
from tap_leadintent.config import validation
from tap_leadintent.config.settings import SCHEMA, Settings
from tap_leadintent.errors import TAP_NAME
from tap_leadintent.run import AnyStream, read_each, sync_streams
from tap_leadintent.singer.tap import SingerTap
from tap_leadintent.streams.endpoints import STREAMS
from tap_leadintent.streams.loads import Loads
from tap_leadintent.streams.stream import LeadIntentStream


class TapLeadIntent(SingerTap[AnyStream]):
    """Singer tap for the buying-intent leads and monitored accounts API.

    A program that uses it passes the settings, and for a run also a catalog and the
    state of the last run. Until `sync_all`, no request is sent:

        >>> tap = TapLeadIntent(
        ...     config={
        ...         "base_url": "https://api.example.com",
        ...         "api_key": "key-of-your-organization",
        ...         "start_date": "2026-01-01",
        ...     },
        ... )
        >>> tap.streams["leads"].primary_keys
        ('id',)
    """

    name = TAP_NAME
    see_also = """\b
See also: tap-leadintent-check, tap-leadintent-columns, tap-leadintent-state,
tap-leadintent-definition and tap-leadintent-demo, each with --help."""
    config_jsonschema = SCHEMA
    limits = Limits()
    """Bounds of requests that a user cannot change."""
    setting_checks = validation.CHECKS
    sync_streams = staticmethod(sync_streams)
    check_streams = staticmethod(partial(read_each, read=methodcaller("check")))

    @override
    def discover_streams(self) -> list[AnyStream]:
        settings = Settings.of(self.config)
        concurrency = settings.concurrency
        # Requests of a stream that failed are not waited for. They may hang and keep
        # their connections, so there are twice as many as a stream needs.
        session = new_session(settings.base_url, 2 * concurrency)
        agent = settings.user_agent or f"{TAP_NAME}/{self.plugin_version}"
        authorization = f"Bearer {settings.api_key}"
        session.headers["User-Agent"] = agent
        session.headers["Authorization"] = authorization
        run_context = RunContext(
            session=session,
            limits=self.limits,
            traffic=Traffic(
                self.limits,
                concurrency,
                settings.max_requests_per_minute,
            ),
            clock=ServerClock(self.logger),
            interruption=self.interruption,
        )
        streams: list[AnyStream] = []
        for stream_class in STREAMS:
            stream = stream_class(self, run_context, settings)
            streams.append(stream)
        if settings.load_receipts:
            streams.append(Loads(self, run_context))
        return streams

    @override
    def state_problems(self, streams: Sequence[AnyStream]) -> Iterable[str]:
        problems: dict[str, None] = {}
        for stream in streams:
            if not isinstance(stream, LeadIntentStream):
                continue
            problem = stream.place_problem
            if problem:
                problems[problem] = None
        return problems

    @property
    def endpoint_streams(self) -> dict[str, LeadIntentStream]:
        """The streams that read an endpoint, by name."""
        return {
            name: stream
            for name, stream in self.streams.items()
            if isinstance(stream, LeadIntentStream)
        }
