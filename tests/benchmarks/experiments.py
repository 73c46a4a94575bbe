"""What is measured, each experiment with a sandbox of its own."""

from __future__ import annotations

import math
import tempfile
from bisect import bisect_left
from functools import partial
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

from tap_leadintent.sandbox import running_sandbox

from .clients import CLOCK
from .measure import interleaved, own_peak_bytes, ratio, run, run_command
from .table import Row

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from .clients import Client, Clients

_LATENCY = 0.2
_HISTORIES = ("growing", "office", "head", "bursts", "import")
_RATE = 15
_THREADS = 8


class Scale(NamedTuple):
    """How much is measured.

    Attributes:
        leads: Leads of an ordinary history; others have 2, 5 and 10 times as many.
        rounds: How often each client runs.
    """

    leads: int
    rounds: int


class _Pace(NamedTuple):
    """How fast a client is.

    Attributes:
        microseconds: Processor time of one more lead.
        a_second: Leads read in a second, start-up included.
    """

    microseconds: float
    a_second: float


def measure_latency(clients: Clients, scale: Scale) -> Iterator[Row]:
    """Measure wall time where each request takes 200 ms."""
    taps = {clients.tap(n): n for n in (_THREADS, 2 * _THREADS)}
    others = {
        **taps,
        clients.bare(_THREADS): _THREADS,
        clients.airbyte(_THREADS): _THREADS,
        clients.dlt(_THREADS, files=False): _THREADS,
    }
    plain = {clients.plain_sdk(): 1}
    with running_sandbox(*CLOCK, "--leads", "0") as empty:
        starts = interleaved(
            scale.rounds,
            {c: partial(run, c, empty.url, 0) for c in (*others, *plain)},
        )
    runs = _slowly(others, scale) | _slowly(plain, scale._replace(rounds=1))
    for client, threads in (others | plain).items():
        ideal = math.ceil(scale.leads / 100) / threads * _LATENCY
        start = median(usage.seconds for usage in starts[client])
        seconds, requests = runs[client]
        target = "; target: at most 1.2" if client in taps else ""
        yield Row(
            measure=f"Seconds for {scale.leads:,} leads, 200 ms a request",
            client=client.name,
            values=seconds,
            ratio=f"{(median(seconds) - start) / ideal:.2f} x ideal after start-up",
            notes=f"ideal {ideal:.1f}, start-up {start:.2f}, {requests:.0f} requests"
            + target,
        )


def measure_histories(clients: Clients, scale: Scale) -> Iterator[Row]:
    """Measure wall time for leads that do not come evenly, 200 ms a request.

    The others read eight equal slices, as they know no more about the history.
    """
    dlt = clients.dlt(_THREADS, files=False)
    everyone = [clients.tap(_THREADS), clients.airbyte(_THREADS), dlt]
    ideal = math.ceil(scale.leads / 100) / _THREADS * _LATENCY
    for history in _HISTORIES:
        runs = _slowly(everyone, scale._replace(rounds=1), "--history", history)
        for client, (seconds, requests) in runs.items():
            yield Row(
                measure=f"Seconds for {scale.leads:,} leads, history: {history}",
                client=client.name,
                values=seconds,
                ratio=f"{median(seconds) / ideal:.2f} x ideal, start-up included",
                notes=f"ideal {ideal:.1f}, {requests:.0f} requests",
            )


def measure_work(clients: Clients, scale: Scale) -> Iterator[Row]:
    """Measure processor time for each lead where requests take none."""
    bare, tap, unread = clients.bare(), clients.tap(1), clients.undecoded(2)
    notes = {
        bare: "the reference",
        tap: "target: at most 2.5",
        clients.tap(_THREADS): "target: at most 3",
        clients.plain_sdk(): "target: at least 5",
        clients.dlt(files=True): "target: at least 5",
        clients.dlt(files=False): "target: at least 5",
        clients.airbyte(): "target: at least 5",
    }
    paces = _paces(scale.rounds, [*notes, unread], scale.leads)
    speeds = {c: median(pace.a_second for pace in paces[c]) for c in paces}
    for number, (client, note) in enumerate(notes.items()):
        reference = bare if number < 3 else tap
        times, others = (
            [p.microseconds for p in paces[c]] for c in (client, reference)
        )
        yield Row(
            measure="Microseconds of processor time a lead, no latency",
            client=client.name,
            values=times,
            ratio=f"{ratio(times, others):.2f} x {reference.name}",
            notes=f"{note}; {speeds[client]:,.0f} leads a second",
        )
    fastest = max(speeds[client] for client in notes if client is not bare)
    yield Row(
        measure="Leads a second that the sandbox can serve",
        client=unread.name,
        values=[pace.a_second for pace in paces[unread]],
        ratio=f"{speeds[unread] / speeds[bare]:.1f} x the bare loop",
        notes=f"{speeds[unread] / fastest:.1f} x the fastest other client",
    )


def measure_memory(clients: Clients, scale: Scale) -> Iterator[Row]:
    """Measure peak memory as the history grows."""
    tap = clients.tap(_THREADS)
    few, many = scale.leads, 10 * scale.leads
    with (
        running_sandbox(*CLOCK, "--leads", str(few)) as small,
        running_sandbox(*CLOCK, "--leads", str(many)) as large,
    ):
        usages = interleaved(
            scale.rounds,
            {
                few: partial(run, tap, small.url, few),
                many: partial(run, tap, large.url, many),
            },
        )
    peaks = {n: [u.peak_bytes / 1e6 for u in usages[n]] for n in usages}
    if min(peaks[few]) <= own_peak_bytes() / 1e6:
        msg = "the benchmark itself is larger than the tap, so its peak is unknown"
        raise RuntimeError(msg)
    for leads, values in peaks.items():
        yield Row(
            measure="Peak memory in MB",
            client=f"{tap.name}, {leads:,} leads",
            values=values,
            ratio=f"{median(values) / median(peaks[few]):.2f} x that of {few:,}",
            notes="target: within 10 %, under 90 MB",
        )


def measure_start(clients: Clients, scale: Scale) -> Iterator[Row]:
    """Measure what the tap takes to say anything."""
    tap = str(clients.tap_program)
    python, code = str(clients.tap_environment.python), "import singer_sdk"
    bare = f'python -c "{code}"'
    commands = {
        bare: [python, "-c", code],
        "tap-leadintent --version": [tap, "--version"],
        "tap-leadintent --help": [tap, "--help"],
    }
    with tempfile.TemporaryDirectory() as name:
        runs = {
            shown: partial(run_command, command, Path(name))
            for shown, command in commands.items()
        }
        usages = interleaved(8 * scale.rounds, runs)
    seconds = {shown: [u.seconds for u in usages[shown]] for shown in commands}
    for shown, values in seconds.items():
        yield Row(
            measure="Seconds to start",
            client=f"`{shown}`",
            values=values,
            ratio=f"{ratio(values, seconds[bare]):.2f} x the import",
            notes="" if shown == bare else "target: at most 1.2",
        )


def measure_throttling(clients: Clients, scale: Scale) -> Iterator[Row]:
    """Count the refusals of a server that allows few requests a second."""
    below = 60 * (_RATE - 1)
    paced = clients.tap(_THREADS, max_requests_per_minute=below)
    with running_sandbox(*CLOCK, "--leads", str(scale.leads)) as sandbox:
        for client, setting, allowed in (
            (clients.tap(_THREADS), "", f"{_THREADS} in any second"),
            (paced, f", `max_requests_per_minute` {below}", "none"),
        ):
            sandbox.configure(rate_limit=_RATE)
            usage = run(client, sandbox.url, scale.leads)
            log = sandbox.requests()
            refused = [entry["time"] for entry in log if entry["status"] == 429]
            yield Row(
                measure=f"429s at {_RATE} requests a second, `Retry-After: 1`",
                client=client.name + setting,
                values=[len(refused)],
                ratio=f"at most {_most_in_a_second(refused)} in any second",
                notes=f"{len(log)} requests in {usage.seconds:.1f} s; "
                f"target: {allowed}",
            )


def _slowly(
    clients: Iterable[Client], scale: Scale, *arguments: str
) -> dict[Client, tuple[list[float], float]]:
    """Give the seconds of each round, and the requests, at 200 ms a request."""
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


def _paces(
    rounds: int, clients: Iterable[Client], few: int
) -> dict[Client, list[_Pace]]:
    """Read two histories; in the difference of what they take, the start cancels."""
    # Far apart, as the difference of two runs has the noise of both.
    many = 5 * few
    with (
        running_sandbox(*CLOCK, "--leads", str(few)) as small,
        running_sandbox(*CLOCK, "--leads", str(many)) as large,
    ):

        def once(client: Client) -> _Pace:
            first, second = run(client, small.url, few), run(client, large.url, many)
            more = second.cpu_seconds - first.cpu_seconds
            return _Pace(more / (many - few) * 1e6, many / second.seconds)

        return interleaved(rounds, {c: partial(once, c) for c in clients})


def _most_in_a_second(times: list[float]) -> int:
    """Give the largest number of ascending instants within one second."""
    return max((bisect_left(times, t + 1) - n for n, t in enumerate(times)), default=0)
