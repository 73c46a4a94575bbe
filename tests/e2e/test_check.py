"""`--test`: a line a stream, in plain words."""

from tap_leadintent.sandbox import Sandbox
from tests.support.helpers import API_KEY, STREAMS, Json, Run, RunTap


def logged(run: Run) -> list[str]:
    """Return what the tap logs, without the warning about the sandbox's clock."""
    lines = [line.split(" | ") for line in run.stderr.splitlines()]
    return [
        f"{line[1].strip()} {line[3]}"
        for line in lines
        if len(line) == 4
        and line[2].startswith("tap-leadintent")
        and not line[3].startswith("Correct the clock that is wrong: ")
    ]


def test_all_streams_can_be_read(
    tap: RunTap,
    sandbox: Sandbox,
    config: Json,
) -> None:
    sandbox.configure(
        api_key=API_KEY,
        sizes={"leads": 0},
    )
    run = tap(config, "--test").succeeded()
    assert run.stdout == ""
    assert len(sandbox.requests()) == len(STREAMS)
    assert logged(run) == [f"INFO {stream}: ok" for stream in sorted(STREAMS)]


def test_schemas_alone_ask_for_nothing(
    tap: RunTap,
    sandbox: Sandbox,
    config: Json,
) -> None:
    run = tap(config, "--test=schema").succeeded()
    assert {message["stream"] for message in run.messages} == set(STREAMS)
    assert {message["type"] for message in run.messages} == {"SCHEMA"}
    assert sandbox.requests() == []
