"""Whose rows a state is about: an address, and what is asked of it.

API description: "Base address", "Authentication"; a key belongs to one organization.
"""

from __future__ import annotations

from functools import lru_cache
from hashlib import pbkdf2_hmac, sha256
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
from urllib3.exceptions import LocationParseError
from urllib3.util import Url, parse_url

if TYPE_CHECKING:
    from collections.abc import Mapping

_PORTS = {"http": 80, "https": 443}

_ROUNDS = 100_000
"""About 50 ms: once a run that is nothing, for whoever tries out keys it is a lot."""

_MARK_BYTES = 4
"""More could tell whether a guess at the key is right, fewer not two keys apart."""


class Source(NamedTuple):
    """What coverage is about. Another key alone is no other source: keys change."""

    address: str
    """The setting `base_url`, as `normalised` writes it."""

    filters: str
    """`filters_hash` of the stream's filters."""

    @classmethod
    def of(cls, config: Mapping[str, Any], filters: Mapping[str, Any]) -> Source:
        """Take it from the settings.

        Args:
            config: The settings.
            filters: What their `filters` hold for the stream.

        Returns:
            The source.
        """
        return cls(normalised(str(config.get("base_url", ""))), filters_hash(filters))


@lru_cache
def normalised(address: str) -> str:
    """Write an address in the one form in which addresses are compared.

    Args:
        address: The setting `base_url`, or what a state says of it.

    Returns:
        The same address, whatever the case of its host, with no default port and no
        slash at the end. What is no address stays as it is.
    """
    try:
        url = parse_url(address)
    except LocationParseError:
        return address
    port = None if url.port == _PORTS.get(url.scheme or "") else url.port
    path = (url.path or "").rstrip("/")
    return Url(url.scheme, host=url.host, port=port, path=path or None).url


def filters_hash(filters: Mapping[str, Any]) -> str:
    """Name a stream's filters.

    Args:
        filters: The request fields that `filters` sets for the stream.

    Returns:
        A short text that differs when they do, empty when there are none. The order
        of fields and of list items does not matter.
    """
    if not filters:
        return ""
    plain = {
        name: sorted(value, key=msgspec.json.encode)
        if isinstance(value, list)
        else value
        for name, value in filters.items()
    }
    return sha256(msgspec.json.encode(plain, order="sorted")).hexdigest()[:12]


@lru_cache(maxsize=1)
def key_mark(key: str, address: str) -> str:
    """Mark a key, so that another one is noticed.

    Args:
        key: The setting `api_key`.
        address: The normalised address that it is for.

    Returns:
        8 hexadecimal digits of a slow hash, from which no key can be worked out.
    """
    digest = pbkdf2_hmac(
        "sha256", key.encode(), address.encode(), _ROUNDS, dklen=_MARK_BYTES
    )
    return digest.hex()
