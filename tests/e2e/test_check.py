"""`--test`: a line a stream, in plain words."""

from tap_leadintent.sandbox import Sandbox
from tests.support.helpers import API_KEY, STREAMS, Json, Run, RunTap


def logged(run: Run) -> list[str]:
    """Return what the tap logs, without the warning about the sandbox's clock."""
    messages = []
    for line in run.stderr.splitlines():
        parts = line.split(" | ")
        if len(parts) != 4:
            continue
        _, level, logger, text = parts
        is_of_tap = logger.startswith("tap-leadintent")
        if is_of_tap and not text.startswith("Correct the clock that is wrong: "):
            messages.append(f"{level.strip()} {text}")
    return messages


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
    assert len(run.messages) == len(STREAMS)
    for stream in STREAMS:
        assert run.schema(stream)
    assert sandbox.requests() == []
