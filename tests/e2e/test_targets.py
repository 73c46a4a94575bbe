"""The tap into targets, as users run it: real processes, a real PostgreSQL."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections import Counter
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pytest
from psycopg import sql
from psycopg.rows import dict_row
from psycopg.types.json import set_json_loads

from tap_leadintent.demo.postgres import running_postgres
from tests.support.helpers import (
    API_KEY,
    STREAMS,
    TIMEOUT,
    assert_keeps_secret,
    exact_json,
    raw_records,
)
from tests.support.rows import expected_row, instant

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import psycopg

    from tap_leadintent.demo.postgres import Postgres
    from tap_leadintent.sandbox import Sandbox

TARGET_POSTGRES = "meltanolabs-target-postgres==0.8.1"

# A target of a few lines: a file for each stream, the last state on stdout.
TARGET_JSONL = """
import json, sys
folder, state, files = sys.argv[1], None, {}
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "SCHEMA":
        name = message["stream"]
        files[name] = open(f"{folder}/{name}.jsonl", "w", encoding="utf-8")
    elif message["type"] == "RECORD":
        files[message["stream"]].write(line)
    elif message["type"] == "STATE":
        state = message["value"]
print(json.dumps(state))
"""

OTHERS = [stream for stream in STREAMS if stream != "leads"]
SIZES = [
    {"leads": 1234, **dict(zip(OTHERS, (0, 1, 99, 100, 101, 7), strict=True))},
    {"leads": 100, **dict(zip(OTHERS, (101, 100, 0, 99, 1, 250), strict=True))},
]

LONG = "Ωmega 長い文 🚀 \\u00e9\\\\ \\u2028" * 20_000
ODD_LEADS = (
    f'{{"id": "odd-1", "full_name": "Zoë 佐藤 \\"🚀\\"", "title": "{LONG}"}}',
    '{"id": "odd-2", "score": {"value": 0.12345678901234567890123, "n": 1e30}}',
    '{"id": "odd-5", "score": {"value": -2.50}}',
    '{"id": "odd-4", "new": {"deep": [[], [1, [2.50]], {}, null, true], "": ""}}',
    '{"id": "odd-3", "title": "", "company": {}, "signal": null}',
)


@pytest.fixture
def config_file(sandbox: Sandbox, tmp_path: Path) -> Path:
    path = tmp_path / "config.json"
    content = {"base_url": sandbox.url, "api_key": API_KEY}
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def pipe(config_file: Path, target: Sequence[str]) -> tuple[str, str]:
    """Run the tap into a target; give what went between them and what came out."""
    folder = config_file.parent
    tap = [sys.executable, "-m", "tap_leadintent", "--config", str(config_file)]
    with (
        (folder / "tap.log").open("w") as tap_log,
        (folder / "target.log").open("w") as target_log,
        (folder / "target.out").open("w") as target_out,
        subprocess.Popen(tap, stdout=subprocess.PIPE, stderr=tap_log) as source,  # noqa: S603
        subprocess.Popen(  # noqa: S603
            target, stdin=subprocess.PIPE, stdout=target_out, stderr=target_log
        ) as sink,
    ):
        assert source.stdout
        assert sink.stdin
        lines = []
        for line in source.stdout:
            lines.append(line)
            sink.stdin.write(line)
        sink.stdin.close()
        codes = source.wait(TIMEOUT), sink.wait(TIMEOUT)
    messages = b"".join(lines).decode()
    logs = [(folder / name).read_text() for name in ("tap.log", "target.log")]
    assert codes == (0, 0), "\n".join(logs)[-5000:]
    assert_keeps_secret(API_KEY, messages, *logs)
    return messages, (folder / "target.out").read_text()


def records_of(messages: str) -> Counter[tuple[str, str]]:
    """Count the records by stream and id."""
    # Not splitlines(), which also splits at what JSON strings may hold.
    decoded = map(json.loads, filter(None, messages.split("\n")))
    return Counter(
        (message["stream"], message["record"]["id"])
        for message in decoded
        if message["type"] == "RECORD"
    )


@pytest.fixture(scope="module")
def postgres() -> Iterator[Postgres]:
    # Neither the path of a socket nor the rights of pytest's folders would do.
    with TemporaryDirectory(prefix="pg-") as folder:
        Path(folder).chmod(0o755)
        with running_postgres(Path(folder) / "data") as server:
            yield server


@pytest.fixture
def connection(postgres: Postgres) -> Iterator[psycopg.Connection]:
    with postgres.connect() as connection:
        set_json_loads(exact_json, connection)
        yield connection


def rows_of(
    connection: psycopg.Connection, schema: str, table: str
) -> dict[str, dict[str, Any]]:
    """Read a table's rows by id, without what the target adds."""
    query = sql.SQL("SELECT * FROM {}").format(sql.Identifier(schema, table))
    with connection.cursor(row_factory=dict_row) as cursor:
        rows = cursor.execute(query).fetchall()
    found = {row["id"]: row for row in rows}
    assert len(found) == len(rows)
    return {
        key: {
            name: instant(value) if isinstance(value, datetime) else value
            for name, value in row.items()
            if not name.startswith("_sdc_")
        }
        for key, row in found.items()
    }


@pytest.mark.parametrize("sizes", SIZES, ids=["many leads", "few leads"])
def test_postgres_holds_what_the_api_holds(
    sandbox: Sandbox,
    config_file: Path,
    postgres: Postgres,
    connection: psycopg.Connection,
    sizes: dict[str, int],
) -> None:
    sandbox.configure(api_key=API_KEY, sizes=sizes)
    sandbox.insert("leads", texts=ODD_LEADS)
    held = {stream: raw_records(sandbox, stream) for stream in STREAMS}
    schema = f"leads_{sizes['leads']}"
    target_config = config_file.with_name("target.json")
    settings = {
        "sqlalchemy_url": postgres.url,
        "default_target_schema": schema,
        "load_method": "upsert",
    }
    target_config.write_text(json.dumps(settings), encoding="utf-8")
    uv = shutil.which("uv")
    assert uv, "uv runs target-postgres in an environment of its own"
    target = [uv, "tool", "run", "--from", TARGET_POSTGRES, "target-postgres"]
    messages, _ = pipe(config_file, [*target, "--config", str(target_config)])

    once = {(stream, record["id"]): 1 for stream in STREAMS for record in held[stream]}
    assert len(once) == sum(sizes.values()) + len(ODD_LEADS)
    assert records_of(messages) == once
    for stream in STREAMS:
        rows = rows_of(connection, schema, stream)
        for row in rows.values():
            row.pop("window_end", None)  # no field of the record
        assert rows == {
            record["id"]: expected_row(stream, record) for record in held[stream]
        }


def test_files_hold_what_the_api_holds(
    sandbox: Sandbox, config_file: Path, tmp_path: Path
) -> None:
    sandbox.configure(api_key=API_KEY, sizes=SIZES[0])
    target = [sys.executable, "-c", TARGET_JSONL, str(tmp_path)]
    _, state = pipe(config_file, target)
    for stream in STREAMS:
        content = (tmp_path / f"{stream}.jsonl").read_text(encoding="utf-8")
        ids = Counter(record for _, record in records_of(content).elements())
        assert ids == Counter(record["id"] for record in raw_records(sandbox, stream))
    assert json.loads(state)["bookmarks"].keys() <= set(STREAMS)
