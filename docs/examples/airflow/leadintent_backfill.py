"""A DAG for Airflow 3 that loads a backfill in shards, on several workers at once."""

import os
from datetime import timedelta
from pathlib import Path
from typing import Any

from airflow.sdk import Param, dag, task
from backfill import Backfill

PROJECT = Path(os.environ.get("LEADINTENT_PROJECT", "/opt/leads"))
"""The Meltano project, which has the same path on each worker."""


def _backfill(params: dict[str, Any]) -> Backfill:
    start, end = params["start_date"], params["end_date"]
    return Backfill(PROJECT, start, end, int(params["shards"]))


@dag(
    schedule=None,
    max_active_runs=1,
    params={
        "start_date": Param("2024-01-01T00:00:00Z", type="string"),
        "end_date": Param("2025-01-01T00:00:00Z", type="string"),
        "shards": Param(3, type="integer", minimum=1),
    },
    # A second attempt costs little, because it continues where the first one ended. If
    # Meltano was killed, it refuses another run of the same pipeline for five minutes.
    default_args={"retries": 3, "retry_delay": timedelta(minutes=6)},
)
def leadintent_backfill() -> None:
    """Load everything between two times, then everything since."""

    @task
    def make_tables(params: dict[str, Any]) -> None:
        _backfill(params).make_tables()

    @task
    def split(params: dict[str, Any]) -> list[dict[str, str]]:
        return _backfill(params).split()

    @task
    def load(shard: dict[str, str], params: dict[str, Any]) -> None:
        _backfill(params).load(shard)

    # A second attempt cannot find a missing shard either.
    @task(retries=0)
    def join(shards: list[dict[str, str]], params: dict[str, Any]) -> None:
        _backfill(params).join(shards)

    @task
    def catch_up(params: dict[str, Any]) -> None:
        _backfill(params).catch_up()

    shards = split()
    make_tables() >> shards
    load.expand(shard=shards) >> join(shards) >> catch_up()


leadintent_backfill()
