"""Loads the tap's output with dlt, which keeps the tap's state with its own."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import dlt

TYPES = {
    "array": "json",
    "boolean": "bool",
    "integer": "bigint",
    "number": "double",
    "object": "json",
}
# Without it, dlt may keep an older version of a row that comes twice in a run.
SEQUENCE = {"name": "_sdc_sequence", "data_type": "bigint", "dedup_sort": "desc"}


def columns_of(schema: dict[str, Any]) -> dict[str, Any]:
    """Return dlt's columns for the properties of a SCHEMA message."""
    columns: dict[str, Any] = {"_sdc_sequence": SEQUENCE}
    for name, column in schema["properties"].items():
        kinds = column["type"]
        kind = kinds if isinstance(kinds, str) else kinds[0]
        data_type = TYPES.get(kind, "text")
        if column.get("format") == "date-time":
            data_type = "timestamp"
        columns[name] = {"name": name, "data_type": data_type}
    return columns


@dlt.resource(max_table_nesting=0)
def leadintent(config: str, codes: list[int]) -> Iterator[Any]:
    """Yield the rows of all streams.

    Args:
        config: The file with the settings of the tap.
        codes: Gets the exit code of the tap.
    """
    kept = dlt.current.resource_state()
    with TemporaryDirectory() as folder:
        command = ["tap-leadintent", "--config", config]
        if "state" in kept:
            state = Path(folder, "state.json")
            state.write_text(json.dumps(kept["state"]))
            command += ["--state", str(state)]
        hints = {}
        with subprocess.Popen(command, stdout=subprocess.PIPE) as tap:
            for number, line in enumerate(tap.stdout or ()):
                message = json.loads(line)
                if message["type"] == "SCHEMA":
                    hints[message["stream"]] = dlt.mark.make_hints(
                        table_name=message["stream"],
                        primary_key=message["key_properties"],
                        write_disposition="merge",
                        columns=columns_of(message["schema"]),
                    )
                elif message["type"] == "RECORD":
                    hint = hints[message["stream"]]
                    row = {**message["record"], "_sdc_sequence": number}
                    yield dlt.mark.with_hints(row, hint, create_table_variant=True)
                elif message["type"] == "STATE":
                    kept["state"] = message["value"]
        codes.append(tap.returncode)


def load(config: str, pipeline: dlt.Pipeline) -> None:
    """Load what is new. If the tap fails, keep what it has read, and raise an error."""
    codes: list[int] = []
    pipeline.run(leadintent(config, codes))
    if codes != [0]:
        raise RuntimeError(f"the tap ended with exit code {codes}")


if __name__ == "__main__":
    load("config.json", dlt.pipeline("leadintent", destination="duckdb"))
