"""A DAG for Airflow 3 that loads what is new each hour, one run at a time."""

import json
import os
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.request import Request, urlopen

from airflow.providers.standard.operators.bash import BashOperator
from airflow.sdk import dag

PROJECT = os.environ.get("LEADINTENT_PROJECT", "/opt/leads")
"""The Meltano project with `run.sh`, which has the same path on each worker."""


def alert(context: Mapping[str, Any]) -> None:
    """Post to a webhook of Slack that all attempts have failed."""
    text = f"{context['task_instance'].dag_id}: {context.get('exception')}"
    request = Request(  # noqa: S310 - the address is our own
        os.environ["LEADINTENT_WEBHOOK"],
        data=json.dumps({"text": text}).encode(),
        headers={"Content-Type": "application/json"},
    )
    urlopen(request, timeout=30).close()  # noqa: S310


@dag(
    schedule="5 * * * *",
    start_date=datetime(2026, 1, 1, tzinfo=UTC),
    # A run loads everything since the last one, so missed ones need not be repeated.
    catchup=False,
    max_active_runs=1,
)
def leadintent_hourly() -> None:
    """Load what is new."""
    BashOperator(
        task_id="load",
        bash_command="sh run.sh tap-leadintent target-postgres",
        cwd=PROJECT,
        execution_timeout=timedelta(hours=6),
        retries=2,
        # If Meltano was killed, it refuses another run for five minutes.
        retry_delay=timedelta(minutes=6),
        on_failure_callback=alert,
    )


leadintent_hourly()
