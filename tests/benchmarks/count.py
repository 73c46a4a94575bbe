"""Counts the leads in the files of a folder: how many, and how many different.

A program of its own, as what it remembers would count as memory of the next client.
"""

import re
import sys
from importlib import import_module
from pathlib import Path

_LEAD = re.compile(rb'"id": ?"(lead_[^"]+)"')


def main(folder: str) -> None:
    """Print both numbers."""
    count, ids = 0, set[bytes | str]()
    for path in Path(folder).rglob("*.jsonl"):
        with path.open("rb") as lines:
            for line in lines:
                for found in _LEAD.finditer(line):
                    count += 1
                    ids.add(found[1])
    for path in Path(folder).rglob("*.arrow"):
        found = import_module("pyarrow").ipc.open_file(path).read_all()["id"]
        count += len(found)
        ids.update(found.to_pylist())
    print(count, len(ids))


if __name__ == "__main__":
    main(sys.argv[1])
