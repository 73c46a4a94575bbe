"""Two environments of one project that run at the same time.

Meltano keeps one file for the state of an extractor in a project, so a run may read the
state of the other environment.
"""

import pytest

from tests.support.helpers import STREAMS
from tests.support.rows import expected_rows
from tests.support.walk import Walk

pytestmark = pytest.mark.long

SCHEMAS = {"dev": "tap_leadintent", "prod": "leads_prod"}


def run_of(environment: str) -> str:
    """Return the line that runs the pipeline, and writes how it has ended."""
    command = f"meltano --environment={environment} run tap-leadintent target-postgres"
    done = f"echo 0 > {environment}.code || echo 1 > {environment}.code"
    return f"{command} > {environment}.log 2>&1 && {done}"


def ended(
    walk: Walk,
    environment: str,
    what: str,
) -> str:
    """Return how the last run of an environment has ended: its code, or its log."""
    return (walk.shell.project / f"{environment}.{what}").read_text(encoding="utf-8")


def is_whole(walk: Walk, environment: str) -> bool:
    """Return whether the environment's schema has all rows of the API."""
    tables = walk.tables(SCHEMAS[environment])
    return all(
        tables.get(stream) == expected_rows(walk.sandbox, stream) for stream in STREAMS
    )


def test_runs_at_the_same_time_are_whole_or_fail(walk: Walk) -> None:
    walk.shell(
        "meltano --environment=prod config set tap-leadintent _load_schema leads_prod"
    )
    for _ in range(3):
        both = " & ".join(f"({run_of(name)})" for name in SCHEMAS)
        walk.shell(f"{both} & wait")
        for name in SCHEMAS:
            assert ended(walk, name, "code") != "0\n" or is_whole(walk, name)
        for name in SCHEMAS:
            walk.shell(run_of(name))
            assert ended(walk, name, "code") == "0\n", ended(walk, name, "log")
            assert is_whole(walk, name)
        walk.sandbox.advance(7)
