"""Identifies the source of a state: the API's address and the stream's filters.

API description: "Base address", "Authentication"; a key belongs to one organization.
"""

from collections.abc import Mapping
from hashlib import sha256
from typing import Any, NamedTuple, Self

import msgspec
from typing_extensions import override


class Source(NamedTuple):
    """What coverage belongs to. The key does not count, because keys are rotated."""

    address: str
    """The setting `base_url`, as `normalised` writes it."""

    filters: str
    """`filters_hash` of the stream's filters."""

    @override
    def __str__(self) -> str:
        text = f"with the filters {self.filters}" if self.filters else "without filters"
        return f"{self.address or 'any address'} {text}"

    @classmethod
    def of(cls, config: Mapping[str, Any], filters: Mapping[str, Any]) -> Self:
        """Read the settings.

        Args:
            config: The settings.
            filters: The stream's part of the setting `filters`.

        Returns:
            The source.
        """
        return cls(normalised(str(config.get("base_url", ""))), filters_hash(filters))


def normalised(address: str) -> str:
    """Normalise an address, so that usual spellings of one address are equal.

    Args:
        address: The setting `base_url`, or the source in a state.

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
    content = msgspec.json.encode(dict(filters), order="sorted")
    return sha256(content).hexdigest()[:12] if filters else ""


def key_mark(key: str) -> str:
    """Hash a key, to notice another key in a state.

    Args:
        key: The setting `api_key`.

    Returns:
        8 hexadecimal digits. Many keys have the same, so they do not show the key.
    """
    return sha256(b"tap-leadintent" + key.encode()).hexdigest()[:8]
