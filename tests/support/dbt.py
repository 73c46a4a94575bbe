"""The dbt project of `docs/examples/dbt`."""

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.support.helpers import Json, ids_of
from tests.support.pages import ROOT, typed
from tests.support.rows import instant

PROJECT = ROOT / "docs" / "examples" / "dbt"
ALL_IS_WELL = " WARN=0 ERROR=0 SKIP=0 "
REQUIREMENTS = ROOT / "tests" / "e2e" / "dbt" / "requirements.txt"


def run_dbt(
    programs: Path,
    folder: Path,
    *arguments: str,
    project: Path = PROJECT,
    profiles: Path = PROJECT,
    variables: Mapping[str, str] | None = None,
) -> str:
    """Run a command of dbt in the example project, or in another.

    Args:
        programs: The folder that contains dbt.
        folder: A folder for dbt's own files.
        arguments: The command and its options, such as `build`.
        project: The folder of the project.
        profiles: The folder of `profiles.yml`.
        variables: Additional environment variables.

    Returns:
        What dbt printed, whether it succeeded or not.
    """
    dbt = str(programs / "dbt")
    command = shlex.join([dbt, *arguments, "--profiles-dir", str(profiles)])
    return typed(
        f"{command} || true",
        project,
        DBT_SEND_ANONYMOUS_USAGE_STATS="false",
        DBT_TARGET_PATH=str(folder / "target"),
        DBT_LOG_PATH=str(folder / "logs"),
        **(variables or {}),
    )


def assert_opened(
    rows: list[Json],
    records: list[Json],
    key: str,
) -> None:
    """Assert that a staging model has the fields of records as columns."""
    rows_by_key = {row[key]: row for row in rows}
    assert rows_by_key.keys() == ids_of(records)
    for record in records:
        fields = _flat_fields(record)
        del fields["id"]  # the model has it under the name of the key
        row = rows_by_key[record["id"]]
        for name, value in fields.items():
            expected = instant(value) if name.endswith("_at") else value
            assert row[name] == expected


def _flat_fields(record: Mapping[str, Any], within: str = "") -> Json:
    """Return a record's fields by the names of their columns in the staging models."""
    fields: Json = {}
    for name, value in record.items():
        if isinstance(value, dict):
            fields |= _flat_fields(value, f"{within}{name}_")
        else:
            fields[f"{within}{name}"] = value
    return fields
