"""Counts the leads in the JSONL files of a folder: how many, and how many different.

A program of its own, as what it remembers would count as memory of the next client.
"""

import re
import sys
from pathlib import Path

_LEAD = re.compile(rb'"id": ?"(lead_[^"]+)"')


def main(folder: str) -> None:
    """Print both numbers."""
    count, ids = 0, set()
    for path in Path(folder).rglob("*.jsonl"):
        with path.open("rb") as lines:
            for line in lines:
                for found in _LEAD.finditer(line):
                    count += 1
                    ids.add(found[1])
    print(count, len(ids))


if __name__ == "__main__":
    main(sys.argv[1])
