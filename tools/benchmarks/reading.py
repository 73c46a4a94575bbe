"""What reading takes."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from tap_leadintent.sandbox import running_sandbox

from .clients import CLOCK, Client, Clients
from .measure import Row, Scale, interleaved, own_peak_bytes, run

_LATENCY = ("--latency", "0.2")


def rows(folder: Path, scale: Scale) -> Iterator[Row]:
    """Measure everything.

    Args:
        folder: For the clients' environments.
        scale: How much is measured.

    Yields:
        A row for each client and measure.
    """
    clients = Clients(folder)
    yield from _seconds(clients, scale)
    yield from _memory(clients, scale)


def _seconds(clients: Clients, scale: Scale) -> Iterator[Row]:
    """Measure wall time where each request takes 200 ms."""
    fast = [
        clients.defaults(),
        clients.tap(16),
        clients.bare(8),
        clients.tap(8),
        clients.dlt(8),
        clients.airbyte(8),
    ]
    slow = [clients.plain_sdk()]
    arguments = (*CLOCK, "--leads", str(scale.leads), *_LATENCY)
    with running_sandbox(*arguments) as sandbox:
        requests: dict[Client, int] = {}

        def once(client: Client) -> float:
            sandbox.clear_requests()
            seconds = run(client, sandbox.url, scale.leads).seconds
            requests[client] = len(sandbox.requests())
            return seconds

        seconds = interleaved(scale.rounds, {c: partial(once, c) for c in fast})
        seconds |= interleaved(1, {c: partial(once, c) for c in slow})
    for client, values in seconds.items():
        measure = f"Seconds for {scale.leads:,} leads, 200 ms a request"
        yield Row(measure, client.name, values, f"{requests[client]} requests")


def _memory(clients: Clients, scale: Scale) -> Iterator[Row]:
    """Measure peak memory for a long history, with few readers and many."""
    leads = 10 * scale.leads
    taps = [clients.tap(1), clients.tap(32)]
    with running_sandbox(*CLOCK, "--leads", str(leads)) as sandbox:
        runs = {tap: partial(run, tap, sandbox.url, leads) for tap in taps}
        usages = interleaved(scale.rounds, runs)
    for tap, used in usages.items():
        peaks = [usage.peak_bytes / 1e6 for usage in used]
        if min(peaks) <= own_peak_bytes() / 1e6:
            raise RuntimeError(
                "the benchmark itself is larger than the tap, so its peak is unknown"
            )
        yield Row(f"Peak memory in MB, {leads:,} leads", tap.name, peaks)
