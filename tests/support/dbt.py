"""The dbt project of `docs/examples/dbt`."""

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.support.pages import ROOT, typed
from tests.support.rows import instant

PROJECT = ROOT / "docs" / "examples" / "dbt"
ALL_IS_WELL = "PASS=31 WARN=0 ERROR=0 SKIP=0"
REQUIREMENTS = ROOT / "tests" / "e2e" / "dbt" / "requirements.txt"


def dbt_build(
    programs: Path,
    folder: Path,
    *options: str,
    profiles: Path = PROJECT,
    variables: Mapping[str, str] | None = None,
) -> str:
    """Build and test all models.

    Args:
        programs: Folder that dbt is in.
        folder: For what dbt writes.
        options: Of `dbt build`.
        profiles: Folder of `profiles.yml`.
        variables: Environment variables in addition.

    Returns:
        What dbt says of it.
    """
    dbt = str(programs / "dbt")
    build = shlex.join([dbt, "build", "--profiles-dir", str(profiles), *options])
    return typed(
        f"{build} || true",  # its last lines tell what failed
        PROJECT,
        DBT_SEND_ANONYMOUS_USAGE_STATS="false",
        DBT_TARGET_PATH=str(folder / "target"),
        DBT_LOG_PATH=str(folder / "logs"),
        **(variables or {}),
    )


def assert_opened(
    rows: list[dict[str, Any]], records: list[dict[str, Any]], key: str
) -> None:
    """Assert that a staging model holds the fields of records in columns."""
    held = {row[key]: row for row in rows}
    assert held.keys() == {record["id"] for record in records}
    for record in records:
        fields = _opened(record)
        del fields["id"]  # under the name of the key
        told = {
            name: instant(value) if name.endswith("_at") else value
            for name, value in fields.items()
        }
        row = held[record["id"]]
        assert {name: row[name] for name in told} == told


def _opened(record: Mapping[str, Any], within: str = "") -> dict[str, Any]:
    """Give a record's fields by the names that the staging models give them."""
    fields: dict[str, Any] = {}
    for name, value in record.items():
        if isinstance(value, dict):
            fields |= _opened(value, f"{within}{name}_")
        else:
            fields[f"{within}{name}"] = value
    return fields
