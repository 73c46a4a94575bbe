"""Writes what to do: one line for all findings that need the same."""

import json
import os
from collections.abc import Iterator, Sequence
from typing import Any

from tap_leadintent.checkup.report import Finding

_SET = "meltano config set tap-leadintent"
"""Begins each command that sets something."""

_METHODS = {"FULL_TABLE", "INCREMENTAL"}

_SELECTED = "MELTANO_EXTRACT__SELECT"
"""Where Meltano passes what is selected."""


def write_actions(findings: Sequence[Finding]) -> Iterator[str]:
    """Yield what to do about findings, each line once.

    Args:
        findings: The findings.
    """
    values = dict[str, list[Any]]()
    texts = list[str]()
    for finding in findings:
        if finding.setting:
            values.setdefault(finding.setting, []).append(finding.value)
        elif finding.action not in {"", *texts}:
            texts.append(finding.action)
    for setting, each in values.items():
        yield write_command(setting, each)
    yield from texts


def write_command(setting: str, values: Sequence[Any]) -> str:
    """Return the command that sets something, as a line for a shell.

    Of several values, the one is set that suits all streams.

    Args:
        setting: The setting; `_select`, or a replication method.
        values: Its values; the names of streams for the last two.
    """
    distinct = dict.fromkeys(values)
    if setting in _METHODS:
        return _write_method(setting, [*distinct])
    if setting == "_select":
        patterns = json.loads(os.environ.get(_SELECTED) or '["*.*"]')
        for stream in distinct:
            patterns.append(f"!{stream}.*")
        command = f"{_SET} _select '{json.dumps(patterns)}'"
        return f"ask the API's support for access, or deselect: {command}"
    best = max(distinct) if setting == "start_date" else min(distinct)
    return f"{_SET} {setting} {best}"


def _write_method(method: str, streams: Sequence[str]) -> str:
    command = f"{_SET} _metadata {{}} replication-method {method}"
    if len(streams) == 1:
        return command.format(streams[0])
    loop = command.format("$stream")
    return f"for stream in {' '.join(streams)}; do {loop}; done"
