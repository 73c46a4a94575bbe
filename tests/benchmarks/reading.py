"""What reading takes, each experiment with a sandbox of its own."""

import math
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from statistics import median

from tap_leadintent.sandbox import running_sandbox

from .clients import CLOCK, Client, Clients
from .measure import Row, Scale, interleaved, own_peak_bytes, ratio, run

_LATENCY = 0.2
_HISTORIES = ("growing", "office", "head", "bursts", "import")
_THREADS = 8


def rows(folder: Path, scale: Scale) -> Iterator[Row]:
    """Measure everything.

    Args:
        folder: For the clients' environments.
        scale: How much is measured.

    Yields:
        A row for each client and measure.
    """
    clients = Clients(folder)
    for measure in (_latency, _histories, _work, _memory):
        yield from measure(clients, scale)


def _latency(clients: Clients, scale: Scale) -> Iterator[Row]:
    """Measure wall time where each request takes 200 ms."""
    threads = {
        clients.tap(_THREADS): _THREADS,
        clients.tap(2 * _THREADS): 2 * _THREADS,
        clients.bare(_THREADS): _THREADS,
        clients.dlt(_THREADS): _THREADS,
    }
    slow = {clients.plain_sdk(): 1, clients.defaults(): 4}
    with running_sandbox(*CLOCK, "--leads", "0") as empty:
        starts = interleaved(
            scale.rounds,
            {c: partial(run, c, empty.url, 0) for c in (*threads, *slow)},
        )
    runs = _slowly(threads, scale) | _slowly(slow, scale._replace(rounds=1))
    for client, readers in (threads | slow).items():
        ideal = math.ceil(scale.leads / 100) / readers * _LATENCY
        start = median(usage.seconds for usage in starts[client])
        seconds, requests = runs[client]
        times = (median(seconds) - start) / ideal
        yield Row(
            f"Seconds for {scale.leads:,} leads, 200 ms a request",
            client.name,
            seconds,
            f"{times:.2f} x the least, {ideal:.1f}, after a start of {start:.2f}; "
            f"{requests:.0f} requests",
        )


def _histories(clients: Clients, scale: Scale) -> Iterator[Row]:
    """Measure wall time for leads that do not come evenly, 200 ms a request.

    The other reads eight equal slices, as it knows no more about the history.
    """
    both = [clients.tap(_THREADS), clients.dlt(_THREADS)]
    for history in _HISTORIES:
        runs = _slowly(both, scale._replace(rounds=1), "--history", history)
        for client, (seconds, requests) in runs.items():
            yield Row(
                f"Seconds for {scale.leads:,} leads, history: {history}",
                client.name,
                seconds,
                f"{requests:.0f} requests",
            )


def _work(clients: Clients, scale: Scale) -> Iterator[Row]:
    """Measure processor time a lead where requests take none.

    Two histories are read: in the difference of what they take, the start cancels.
    """
    # Far apart, as the difference of two runs has the noise of both.
    few, many = scale.leads, 5 * scale.leads
    bare = clients.bare()
    taps = (clients.tap(1), clients.tap(_THREADS), clients.arrow(_THREADS))
    others = (*taps, clients.dlt(), clients.plain_sdk())
    with (
        running_sandbox(*CLOCK, "--leads", str(few)) as small,
        running_sandbox(*CLOCK, "--leads", str(many)) as large,
    ):

        def once(client: Client) -> float:
            first, second = run(client, small.url, few), run(client, large.url, many)
            return (second.cpu_seconds - first.cpu_seconds) / (many - few) * 1e6

        everyone = (bare, *others)
        times = interleaved(scale.rounds, {c: partial(once, c) for c in everyone})
    for client in everyone:
        yield Row(
            "Microseconds of processor time a lead, no latency",
            client.name,
            times[client],
            f"{ratio(times[client], times[bare]):.2f} x the bare loop",
        )


def _memory(clients: Clients, scale: Scale) -> Iterator[Row]:
    """Measure peak memory as the history grows."""
    tap = clients.tap(_THREADS)
    for leads in (scale.leads, 10 * scale.leads):
        with running_sandbox(*CLOCK, "--leads", str(leads)) as sandbox:
            once = partial(run, tap, sandbox.url, leads)
            (usages,) = interleaved(scale.rounds, {tap: once}).values()
        peaks = [usage.peak_bytes / 1e6 for usage in usages]
        if min(peaks) <= own_peak_bytes() / 1e6:
            raise RuntimeError(
                "the benchmark itself is larger than the tap, so its peak is unknown"
            )
        yield Row("Peak memory in MB", f"{tap.name}, {leads:,} leads", peaks)


def _slowly(
    clients: Iterable[Client], scale: Scale, *arguments: str
) -> dict[Client, tuple[list[float], float]]:
    """Return the seconds of each round, and the requests, at 200 ms a request."""
    leads = str(scale.leads)
    latency = ("--latency", str(_LATENCY))
    with running_sandbox(*CLOCK, "--leads", leads, *latency, *arguments) as sandbox:

        def once(client: Client) -> tuple[float, int]:
            sandbox.clear_requests()
            seconds = run(client, sandbox.url, scale.leads).seconds
            return seconds, len(sandbox.requests())

        runs = interleaved(scale.rounds, {c: partial(once, c) for c in clients})
    return {
        client: ([s for s, _ in results], median(n for _, n in results))
        for client, results in runs.items()
    }
