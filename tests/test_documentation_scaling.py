"""`docs/scaling.md` has what is computed, and its steps are those of the example."""

from __future__ import annotations

import re

from tests.support.pages import ROOT
from tests.support.scaling import PAGE, Load, made

TEXT = PAGE.read_text(encoding="utf-8")
EXAMPLES = ROOT / "docs" / "examples" / "airflow"


def test_the_tables_are_computed() -> None:
    assert made(TEXT) == TEXT


def test_a_load_takes_as_long_as_the_slowest_part() -> None:
    network = Load(1_000_000, 0.2, None, 4)
    assert network.requests == 2 * 11_512
    assert network.seconds == network.requests * 0.2 / 4
    assert Load(1_000_000, 0.2, 60, 4).seconds == network.requests
    assert Load(100_000, 0.2, None, 4, 100).seconds == 1_000
    assert Load(1_000_000, 0.2, None, 4, 100).seconds == 18_700


def test_the_page_and_the_dag_have_the_same_steps() -> None:
    dag = (EXAMPLES / "leadintent_backfill.py").read_text(encoding="utf-8")
    tasks = re.findall(r"^    def (\w+)\(", dag, re.MULTILINE)
    steps = re.findall(r"^\d\. \*\*([\w ]+)\*\*", TEXT, re.MULTILINE)
    assert len(tasks) == len(steps)
    for task, step in zip(tasks, steps, strict=True):
        words = step.lower().replace(" the", "").replace(" ", "_")
        assert words == task, step
