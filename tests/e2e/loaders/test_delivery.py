"""Rows that get lost on their way into PostgreSQL are found by the page's query."""

import json
import logging
from collections.abc import Iterator
from datetime import datetime
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from psycopg.errors import UndefinedTable
from typing_extensions import override

from tap_leadintent.demo.postgres import Postgres
from tap_leadintent.times import utc_timestamp
from tests.support.deliveries import play
from tests.support.helpers import Json
from tests.support.schemas import Schema
from tests.support.targets import run_target
from tests.support.warehouse import Warehouse


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    """Keep the log of the runs out of memory."""
    logging.disable()
    yield
    logging.disable(logging.NOTSET)


class LoadedWarehouse(Warehouse):
    """Tables of PostgreSQL, which target-postgres loads."""

    def __init__(self, schema: Schema) -> None:
        super().__init__()
        self._schema = schema
        self._messages: list[Json] = []

    @override
    def load(self, messages: list[Json]) -> None:
        # One process of the loader gets all batches of a run.
        self._messages += messages

    @override
    def ask(self, query: str) -> list[tuple[Any, ...]]:
        if self._messages:
            place = {
                "sqlalchemy_url": self._schema.postgres.url,
                "default_target_schema": self._schema.folder.name,
            }
            lines = "".join(f"{json.dumps(each)}\n" for each in self._messages)
            run_target(
                self._schema.folder,
                "target-postgres",
                place,
                lines,
            )
            self._messages = []
        try:
            rows = self._schema.ask(query)
        except UndefinedTable:
            # No run has come so far.
            return []
        return [tuple(map(_text, row)) for row in rows]


def _text(value: Any) -> Any:
    """Return a time as text, and other values as they are."""
    return utc_timestamp(f"{value}Z") if isinstance(value, datetime) else value


NUMBERS = count()


@pytest.mark.long
@settings(
    max_examples=8,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
@given(data=st.data())
def test_each_loss_is_found_and_nothing_else_is_called_one(
    data: st.DataObject,
    postgres: Postgres,
    tmp_path: Path,
) -> None:
    folder = tmp_path / f"course_{next(NUMBERS)}"
    folder.mkdir()
    play(
        data,
        LoadedWarehouse(Schema(postgres, folder)),
        5,
    )
