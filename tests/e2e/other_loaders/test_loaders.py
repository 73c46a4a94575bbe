"""Each loader: killed in the first load, resumed, and updated; every cell compared."""

import json
import os
import subprocess
from collections.abc import Callable
from decimal import Decimal
from http import HTTPStatus
from pathlib import Path
from threading import Timer
from typing import Any

import pytest
import requests

from tap_leadintent.sandbox import Sandbox
from tests.e2e.other_loaders.loaders import LOADERS, Loader, TargetS3Jsonl
from tests.support.helpers import (
    STREAMS,
    TIMEOUT,
    Json,
    RunTap,
    declared_stream,
    entries,
    exact_json,
    only,
)
from tests.support.in_process import typed_catalog
from tests.support.rows import expected_rows, instant
from tests.support.runs import DAY, SINCE, fill

SIZES = {
    **dict.fromkeys(STREAMS, 60),
    "leads": 1_200,
}
ODD = {
    "id": "odd",
    "full_name": 'Zoë "Ada",\r\nByron\\n;\t🚀 \u2028',
    "title": "",
    "score": {"value": 0.30000000000000004},
    "new": {
        "": [[], [2.5], {}, None, True],
        "big": 2**60,
    },
}

# A column of numbers: without a value, and with all digits of a double.
OBSERVATIONS = (
    {"id": "none", "confidence": None},
    {"id": "digits", "confidence": 0.30000000000000004},
)


def arguments(loader: Loader) -> list[str | Path]:
    """Return the command line of a loader."""
    path = loader.folder.parent / "config.json"
    path.write_text(json.dumps(loader.settings()), encoding="utf-8")
    return [
        loader.programs / (loader.program or loader.name),
        "--config",
        path,
    ]


def start(loader: Loader) -> subprocess.Popen[bytes]:
    """Start a loader; its log goes to a file."""
    with (loader.folder.parent / "log").open("wb") as log:
        return subprocess.Popen(  # noqa: S603 - of our own requirements
            arguments(loader),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            cwd=loader.folder.parent,
            env={
                **os.environ,
                **loader.variables(),
            },
        )


def load(loader: Loader, messages: str) -> Any:
    """Load messages; return the last STATE that the loader prints."""
    with start(loader) as process:
        output, _ = process.communicate(messages.encode(), timeout=TIMEOUT)
    log = (loader.folder.parent / "log").read_text("utf-8", errors="replace")
    assert process.returncode == 0, log[-3_000:]
    return json.loads(output.decode().splitlines()[-1])


def kill(loader: Loader, messages: str) -> Any:
    """Load messages, and kill the loader; return the last STATE that it printed."""
    lines = messages.encode().splitlines(keepends=True)
    with start(loader) as process:
        assert process.stdin
        assert process.stdout
        # It would wait for ever if the loader printed none.
        watchdog = Timer(TIMEOUT, process.kill)
        watchdog.start()
        process.stdin.writelines(lines[: len(lines) * 9 // 10])
        process.stdin.flush()
        state = process.stdout.readline() if loader.confirms_midway else b""
        watchdog.cancel()
        process.kill()
        states = [state, *process.stdout]
    complete = [each for each in states if each.endswith(b"\n")]
    return json.loads(complete[-1]) if complete else None


def read(value: Any, schema: Json) -> Any:
    """Read the value of a column with this schema, from whatever a loader stores."""
    types = schema["type"]
    if value is None:
        return None
    if schema.get("format") == "date-time":
        return instant(value)
    if "object" in types or "array" in types:
        return exact_json(value) if value and isinstance(value, str) else value
    if "number" in types:
        return Decimal(str(value))
    if "boolean" in types and isinstance(value, str):
        return {"true": True, "false": False}[value.lower()]
    return value


def wanted(
    loader: Loader,
    value: Any,
    schema: Json,
) -> Any:
    """Return what a cell must be that has this value in the API."""
    if isinstance(value, str) and "string" in schema["type"]:
        value = instant(value) if "format" in schema else loader.text(value)
    return loader.cell(value, schema)


def assert_loaded(
    loader: Loader,
    sandbox: Sandbox,
    catalog: Json,
) -> dict[str, Json]:
    """Compare every cell of each table with the API; return the newest leads by id."""
    newest: dict[str, Json] = {}
    for stream in STREAMS:
        columns = entries(catalog)[stream]["schema"]["properties"]
        added = columns.keys() - declared_stream(stream).schema["properties"].keys()
        newest = {row["id"]: row for row in loader.rows(stream)}
        expected = expected_rows(sandbox, stream, *added)
        assert newest.keys() == expected.keys(), stream
        for key, row in expected.items():
            for name, value in row.items():
                schema = columns[name]
                found = read(newest[key].get(name), schema)
                assert found == wanted(loader, value, schema), (stream, key, name)
    return newest


@pytest.mark.parametrize("kind", LOADERS, ids=lambda kind: kind.name)
def test_every_cell_after_a_kill_and_an_update(  # noqa: PLR0913, PLR0917 - fixtures
    kind: type[Loader],
    new_loader: Callable[[type[Loader]], Loader],
    tap: RunTap,
    sandbox: Sandbox,
    config: Json,
    tmp_path: Path,
) -> None:
    loader = new_loader(kind)
    fill(sandbox, **SIZES)
    sandbox.insert("leads", ODD, found_at=SINCE)
    sandbox.insert("observations", *OBSERVATIONS, observed_at=SINCE)
    config |= kind.tap
    catalog = typed_catalog(tmp_path, config) if kind.takes_numbers else only(*STREAMS)
    state = kill(loader, tap(config, catalog=catalog).succeeded().stdout)
    assert (state is not None) == kind.confirms_midway
    if kind.loses_confirmed_rows:
        assert not loader.rows("leads")
        state = None
    run = tap(
        config,
        state=state,
        catalog=catalog,
    ).succeeded()
    state = load(loader, run.stdout)
    before = assert_loaded(loader, sandbox, catalog)
    sandbox.advance(10 * DAY)
    now = sandbox.now()
    sandbox.insert(
        "leads",
        {**ODD, "title": "CTO"},
        found_at=now,
        observed_at=now,
    )
    run = tap(
        config,
        state=state,
        catalog=catalog,
    ).succeeded()
    assert load(loader, run.stdout)
    assert assert_loaded(loader, sandbox, catalog) != before


class WithoutBucket(TargetS3Jsonl):
    def settings(self) -> Json:
        return {**super().settings(), "s3_bucket": "missing"}


def test_target_s3_jsonl_confirms_rows_that_it_could_not_upload(
    new_loader: Callable[[type[Loader]], Loader],
    tap: RunTap,
    sandbox: Sandbox,
    config: Json,
) -> None:
    loader = new_loader(WithoutBucket)
    fill(sandbox, leads=10)
    run = tap(config, catalog=only("leads")).succeeded()
    assert load(loader, run.stdout) == run.state
    bucket = requests.get(f"{loader.services.s3}/missing", timeout=TIMEOUT)
    assert bucket.status_code == HTTPStatus.NOT_FOUND
