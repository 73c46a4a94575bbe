"""Says to which place a stream's state belongs.

A state says what has been loaded from one address, with certain filters, into one
schema of one environment. What is true there need not be true elsewhere. The key does
not count, because keys are rotated.
"""

import os
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

import msgspec

from tap_leadintent.config.settings import Settings

_VARIABLES = {
    "environment": "MELTANO_ENVIRONMENT",
    "schema": "MELTANO_EXTRACT__LOAD_SCHEMA",
}
"""The variables in which Meltano names its environment, and the schema that the loader
writes to. Meltano does not tell a tap its loader."""

_LABELS = {
    "source": "base_url",
    "environment": "Meltano's environment",
    "schema": "the loader's schema",
}


def place_of(settings: Settings, stream: str) -> dict[str, str]:
    """Return the place that a run's state of a stream belongs to.

    Args:
        settings: The settings.
        stream: The name of the stream.

    Returns:
        What is known of the place: the address (`source`), a hash of the stream's
        filters (`filters`, empty without filters), and under Meltano the `environment`
        and the `schema`.
    """
    place = {
        "source": normalised(settings.base_url),
        "filters": filters_hash(settings.filters.get(stream, {})),
    }
    for name, variable in _VARIABLES.items():
        value = os.environ.get(variable)
        if value:
            place[name] = value
    return place


def normalised(address: str) -> str:
    """Normalise an address, so that usual spellings of one address are equal.

    Args:
        address: The setting `base_url`.

    Returns:
        The address in lower case, without slashes at its end.
    """
    return address.rstrip("/").lower()


def filters_hash(filters: Mapping[str, Any]) -> str:
    """Hash a stream's filters.

    Args:
        filters: The request fields that `filters` sets for the stream.

    Returns:
        A short hash, empty without filters. The order of fields does not matter.
    """
    if not filters:
        return ""
    content = msgspec.json.encode(dict(filters), order="sorted")
    return sha256(content).hexdigest()[:12]


def describe_other_place(
    stream: str,
    differing: Sequence[str],
    before: Mapping[str, str],
    now: Mapping[str, str],
) -> str:
    """Say that a state belongs to another place, and which ways lead on.

    Args:
        stream: The name of the stream.
        differing: The names of what differs.
        before: The place of the state.
        now: The place of the run.

    Returns:
        A text that begins with what to do.
    """
    former: list[str] = []
    current: list[str] = []
    for name in differing:
        if name == "filters":
            former.append(f"the former filters.{stream}")
            current.append(f"the new filters.{stream}")
        else:
            former.append(f"{_LABELS[name]} {before[name]}")
            current.append(f"{_LABELS[name]} {now[name]}")
    again = "tap-leadintent-state forget"
    adopt = ", or run tap-leadintent-state adopt if only a name has changed"
    if "filters" in differing:
        again += f" --stream {stream}"
        adopt = ""
    return (
        f"go back to {' and '.join(former)}, or load everything again "
        f"(--full-refresh, or {again}){adopt}: the state does not belong to "
        f"{' and '.join(current)}"
    )
