"""Tests of the pipeline with the sandbox, without a key and without a network."""

from pathlib import Path
from typing import Any

import pipeline
import pytest

from tap_leadintent.sandbox import Sandbox

DAY = 86_400


@pytest.fixture
def config(leadintent_config: dict[str, str]) -> dict[str, Any]:
    return {**leadintent_config, "start_date": "2025-06-01"}


def names(folder: Path) -> set[str]:
    return {
        name for (name,) in pipeline.connect(folder).execute("SELECT id FROM leads")
    }


def test_the_best_lead_comes_first(
    leadintent_sandbox: Sandbox, config: dict[str, Any], tmp_path: Path
) -> None:
    best = {"id": "a", "full_name": "Ada Best", "score": {"value": 1000}}
    leadintent_sandbox.insert("leads", best, {"id": "b", "full_name": "No Score"})
    pipeline.load(config, tmp_path)
    assert "b" in names(tmp_path)
    assert pipeline.to_call(tmp_path, 1) == ["Ada Best"]


def test_a_lead_that_is_found_late_arrives(
    leadintent_sandbox: Sandbox, config: dict[str, Any], tmp_path: Path
) -> None:
    pipeline.load(config, tmp_path)
    leadintent_sandbox.advance(5 * DAY)
    late = {"id": "late", "full_name": "Late Comer", "score": {"value": 1}}
    leadintent_sandbox.insert("leads", late, observed_at="2025-07-01T00:00:00Z")
    pipeline.load(config, tmp_path)
    assert names(tmp_path) == {
        lead["id"] for lead in leadintent_sandbox.records("leads")
    }
    assert "late" in names(tmp_path)


def test_a_failure_loses_nothing(
    leadintent_sandbox: Sandbox, config: dict[str, Any], tmp_path: Path
) -> None:
    leadintent_sandbox.faults({"kind": "status", "status": 403, "stream": "leads"})
    with pytest.raises(RuntimeError, match="exit code 1"):
        pipeline.load(config, tmp_path)
    leadintent_sandbox.faults()
    pipeline.load(config, tmp_path)
    assert len(names(tmp_path)) == len(leadintent_sandbox.records("leads"))
