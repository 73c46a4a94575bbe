"""Runs of the check-up over the model of the API, in this process."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from unittest import mock

import requests
import time_machine
from requests.adapters import HTTPAdapter

from tap_leadintent.checkup.cli import main
from tests.support.helpers import Json, Run
from tests.support.in_process import run_checkup
from tests.support.model import EPOCH, Api
from tests.support.model_runs import DEFAULTS, Adapter, count_requests

_SETTINGS = {
    "api_key": "test-key-123",
    # For another host, each run would load the certificates of the machine.
    "base_url": "http://localhost",
}

_MOST_REQUESTS = 150


def check_model(
    folder: Path,
    api: Api,
    config: Json | None = None,
    *arguments: str,
) -> Run:
    """Run the check-up of the leads over a model."""
    adapter = Adapter(api, lambda: None)

    def send(
        _: HTTPAdapter,
        request: requests.PreparedRequest,
        **__: Any,
    ) -> requests.Response:
        return adapter.send(request)

    settings = {
        **DEFAULTS,
        **_SETTINGS,
        **(config or {}),
    }
    with (
        time_machine.travel(EPOCH + api.now, tick=False),
        mock.patch.object(HTTPAdapter, "send", send),
    ):
        most = f"--max-requests={_MOST_REQUESTS}"
        run = run_checkup(folder, main, settings, "--stream=leads", most, *arguments)
    assert count_requests(api) <= _MOST_REQUESTS
    return run


def answers(
    folder: Path,
    api: Api,
    config: Json | None = None,
) -> Json:
    """Return the report of the check-up, with the findings by question and range."""
    run = check_model(folder, api, config, "--json")
    report: Json = json.loads(run.stdout)
    report["by"] = dict(_by_question(report["findings"]))
    return report


def _by_question(findings: Iterable[Json]) -> Iterable[tuple[tuple[str, str], str]]:
    for finding in findings:
        about = finding["about"].rpartition(".")[2]
        yield (finding["question"], about), finding["answer"]
