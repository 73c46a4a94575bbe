"""How many round trips and requests histories take.

Run it with `python -m tests.benchmarks.rounds [readers]`. In virtual time: each request
takes a round, so that nothing but the windows counts. The multiples are of what is
least possible: pages / readers rounds, and pages requests.
"""

from __future__ import annotations

import argparse

from tests.support.histories import SHAPES, YEAR, shaped
from tests.support.rounds import Server, read


def main() -> None:
    """Play every history and print a line for each."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.rounds")
    parser.add_argument("readers", type=int, nargs="?", default=8)
    readers = parser.parse_args().readers
    for count in (20_000, 200_000):
        for served in (100, 50):
            pages = count / served
            for name, shape in SHAPES.items():
                history = shaped(count, shape)
                played = read(history, 0, YEAR, readers, server=Server(served))
                rounds = played.rounds * readers / pages
                print(
                    f"{count:7,} rows, {served:3} a page, {name:8}"
                    f"{played.rounds:6,} rounds {rounds:5.2f} x"
                    f"{played.requests:7,} requests {played.requests / pages:5.2f} x, "
                    f"longest chain {played.longest:3}, waiting {played.waiting:4}"
                )


if __name__ == "__main__":
    main()
