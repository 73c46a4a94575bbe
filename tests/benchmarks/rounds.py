"""How many round trips and requests histories and increments take.

Run it with `python -m tests.benchmarks.rounds [readers]`. In virtual time: each request
takes a round, so that nothing but the windows counts. The multiples are of what is
least possible: pages / readers rounds, and pages requests; for increments, the requests
of one plain cursor chain.
"""

from __future__ import annotations

import argparse
from statistics import mean

from tests.support.histories import BATCHES, DAY, SHAPES, YEAR, increment, shaped
from tests.support.rounds import Server, least, read

_SERVERS = {
    "100 a page": Server(),
    "50 a page": Server(served=50),
    "one page too many": Server(ends_empty=True),
}


def main() -> None:
    """Play every history and every increment, and print a line for each."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.rounds")
    parser.add_argument("readers", type=int, nargs="?", default=8)
    readers = parser.parse_args().readers
    for name, server in _SERVERS.items():
        _histories(name, server, readers)
    for name, server in _SERVERS.items():
        _increments(name, server, readers)


def _histories(name: str, server: Server, readers: int) -> None:
    rounds: list[float] = []
    requests: list[float] = []
    for count in (20_000, 200_000):
        pages = count / server.served
        for shape, of in SHAPES.items():
            played = read(shaped(count, of), 0, YEAR, readers, server=server)
            rounds.append(played.rounds * readers / pages)
            requests.append(played.requests / pages)
            print(
                f"{count:7,} rows, {name}, {shape:13}"
                f"{played.rounds:6,} rounds {rounds[-1]:5.2f} x"
                f"{played.requests:7,} requests {requests[-1]:5.2f} x, "
                f"longest chain {played.longest:3}, waiting {played.waiting:4}"
            )
    print(f"mean: {mean(rounds):.2f} x rounds, {mean(requests):.2f} x requests\n")


def _increments(name: str, server: Server, readers: int) -> None:
    for new in (0, 20, 101, 150, 300, 1000, 3000, 5000, 10_000):
        found = [
            read(
                increment(length, new, *batches, seed),
                *(0, length, readers),
                quiet=True,
                server=server,
            )
            for length in (3600, DAY, 7 * DAY, 29 * DAY)
            for batches in BATCHES.values()
            for seed in range(5)
        ]
        requests = [played.requests for played in found]
        print(
            f"{new:6,} new rows, {name}: {least(new, server)} requests in one chain, "
            f"{mean(requests):.1f} on average, {max(requests)} at most; "
            f"{mean(played.rounds for played in found):.1f} rounds on average"
        )
    print()


if __name__ == "__main__":
    main()
