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
    from collections.abc import Iterator, Mapping, Sequence

    from tap_leadintent.sandbox import Sandbox

    from .clients import Client, Clients
    from .measure import Usage

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
    plain = clients.plain_sdk()
    taps = {clients.tap(n): n for n in (_THREADS, 2 * _THREADS)}
    others = {
        **taps,
        clients.bare(_THREADS): _THREADS,
        clients.airbyte(_THREADS): _THREADS,
        clients.dlt(_THREADS, files=False): _THREADS,
    }
    with running_sandbox(*CLOCK, "--leads", "0") as empty:
        starts = interleaved(
            scale.rounds, {c: partial(run, c, empty.url, 0) for c in (*others, plain)}
        )
    leads = scale.leads
    latency = ("--latency", str(_LATENCY))
    with running_sandbox(*CLOCK, "--leads", str(leads), *latency) as sandbox:
        runs = interleaved(
            scale.rounds, {c: partial(_counted, c, sandbox, leads) for c in others}
        )
        runs[plain] = [_counted(plain, sandbox, leads)]
    for client, results in runs.items():
        threads = others.get(client, 1)
        ideal = math.ceil(leads / 100) / threads * _LATENCY
        start = median(usage.seconds for usage in starts[client])
        seconds = [usage.seconds for usage, _ in results]
        requests = median(requests for _, requests in results)
        target = "; target: at most 1.2" if client in taps else ""
        yield Row(
            measure=f"Seconds for {leads:,} leads, 200 ms a request",
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
    everyone = [
        clients.tap(_THREADS),
        clients.airbyte(_THREADS),
        clients.dlt(_THREADS, files=False),
    ]
    ideal = math.ceil(scale.leads / 100) / _THREADS * _LATENCY
    latency = ("--latency", str(_LATENCY))
    for history in _HISTORIES:
        arguments = ("--leads", str(scale.leads), "--history", history, *latency)
        with running_sandbox(*CLOCK, *arguments) as sandbox:
            counted = {c: partial(_counted, c, sandbox, scale.leads) for c in everyone}
            runs = interleaved(1, counted)
        for client, results in runs.items():
            seconds = [usage.seconds for usage, _ in results]
            requests = median(requests for _, requests in results)
            yield Row(
                measure=f"Seconds for {scale.leads:,} leads, history: {history}",
                client=client.name,
                values=seconds,
                ratio=f"{median(seconds) / ideal:.2f} x ideal, start-up included",
                notes=f"ideal {ideal:.1f}, {requests:.0f} requests",
            )


def measure_work(clients: Clients, scale: Scale) -> Iterator[Row]:
    """Measure processor time for each lead where requests take none."""
    bare, tap, windowed = clients.bare(), clients.tap(1), clients.tap(_THREADS)
    notes = {
        bare: "the reference",
        tap: "target: at most 2.5",
        windowed: "target: at most 3",
    }
    # Far apart and often, as the difference of two runs has the noise of both.
    paces = _paces(4 * scale.rounds, [*notes], scale.leads, 5 * scale.leads)
    for client, note in notes.items():
        yield _work(client, note, paces, bare)


def measure_peers(clients: Clients, scale: Scale) -> Iterator[Row]:
    """Measure what others take for the same, and what the sandbox can serve."""
    bare, tap, unread = clients.bare(), clients.tap(1), clients.undecoded(2)
    peers = [
        clients.plain_sdk(),
        clients.dlt(files=True),
        clients.dlt(files=False),
        clients.airbyte(),
    ]
    everyone = [bare, tap, *peers, unread]
    paces = _paces(scale.rounds, everyone, scale.leads, 2 * scale.leads)
    for peer in peers:
        yield _work(peer, "target: at least 5", paces, tap)
    speeds = {c: median(pace.a_second for pace in paces[c]) for c in paces}
    fastest = max(speeds[client] for client in (tap, *peers))
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
    bare = 'python -c "import singer_sdk"'
    commands = {
        bare: [str(clients.tap_environment.python), "-c", "import singer_sdk"],
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


def _counted(client: Client, sandbox: Sandbox, leads: int) -> tuple[Usage, int]:
    """Run a client; give its usage and the number of its requests."""
    sandbox.clear_requests()
    usage = run(client, sandbox.url, leads)
    return usage, len(sandbox.requests())


def _step(client: Client, histories: Mapping[str, int]) -> _Pace:
    """Read two histories; in the difference of what they take, the start cancels."""
    first, second = (run(client, url, leads) for url, leads in histories.items())
    few, many = histories.values()
    return _Pace(
        (second.cpu_seconds - first.cpu_seconds) / (many - few) * 1e6,
        many / second.seconds,
    )


def _paces(
    rounds: int, clients: Sequence[Client], few: int, many: int
) -> dict[Client, list[_Pace]]:
    with (
        running_sandbox(*CLOCK, "--leads", str(few)) as small,
        running_sandbox(*CLOCK, "--leads", str(many)) as large,
    ):
        histories = {small.url: few, large.url: many}
        return interleaved(rounds, {c: partial(_step, c, histories) for c in clients})


def _work(
    client: Client, note: str, paces: Mapping[Client, list[_Pace]], reference: Client
) -> Row:
    times = [pace.microseconds for pace in paces[client]]
    others = [pace.microseconds for pace in paces[reference]]
    speed = median(pace.a_second for pace in paces[client])
    return Row(
        measure="Microseconds of processor time a lead, no latency",
        client=client.name,
        values=times,
        ratio=f"{ratio(times, others):.2f} x {reference.name}",
        notes=f"{note}; {speed:,.0f} leads a second",
    )


def _most_in_a_second(times: list[float]) -> int:
    """Give the largest number of ascending instants within one second."""
    return max((bisect_left(times, t + 1) - n for n, t in enumerate(times)), default=0)
