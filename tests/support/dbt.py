"""The dbt project of `docs/examples/dbt`."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.support.helpers import TIMEOUT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.support.environments import Environment

_ROOT = Path(__file__).parents[2]
PROJECT = _ROOT / "docs" / "examples" / "dbt"
ALL_IS_WELL = "PASS=31 WARN=0 ERROR=0 SKIP=0"
REQUIREMENTS = _ROOT / "tests" / "e2e" / "dbt" / "requirements.txt"


def dbt_build(
    environment: Environment,
    folder: Path,
    *options: str,
    profiles: Path = PROJECT,
    variables: Mapping[str, str] | None = None,
) -> str:
    """Build and test all models.

    Args:
        environment: Where dbt is.
        folder: For what dbt writes.
        options: Of `dbt build`.
        profiles: Folder of `profiles.yml`.
        variables: Environment variables in addition.

    Returns:
        What dbt says of it.
    """
    done = subprocess.run(  # noqa: S603 - our own project
        [environment.programs / "dbt", "build", "--profiles-dir", profiles, *options],
        cwd=PROJECT,
        env={
            **os.environ,
            "DBT_SEND_ANONYMOUS_USAGE_STATS": "false",
            "DBT_TARGET_PATH": str(folder / "target"),
            "DBT_LOG_PATH": str(folder / "logs"),
            **(variables or {}),
        },
        capture_output=True,
        check=False,
        encoding="utf-8",
        timeout=TIMEOUT,
    )
    return done.stdout


def opened(record: Mapping[str, Any], within: str = "") -> dict[str, Any]:
    """Give a record's fields by the names that the staging models give them."""
    fields: dict[str, Any] = {}
    for name, value in record.items():
        if isinstance(value, dict):
            fields |= opened(value, f"{within}{name}_")
        else:
            fields[f"{within}{name}"] = value
    return fields
