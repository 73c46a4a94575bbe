"""The tap's streams, as far as the command needs them; it creates no tap."""

from __future__ import annotations

import io
import json
from typing import NamedTuple

from singer_sdk.singerlib import Catalog
from singer_sdk.singerlib.catalog import REPLICATION_INCREMENTAL, CatalogEntry

from tap_leadintent.config.files import CatalogFile, checked
from tap_leadintent.config.suggestions import did_you_mean
from tap_leadintent.errors import ConfigError
from tap_leadintent.redaction import Secret
from tap_leadintent.state_tool.errors import StateError
from tap_leadintent.streams import STREAMS


class Stream(NamedTuple):
    """A stream, as a run treats it."""

    name: str
    ranges: tuple[str, ...]
    """Its time ranges; the first load reads the first."""

    is_incremental: bool
    """Whether it is read by its ranges, and keeps a state."""

    is_selected: bool = True


def declared_streams() -> dict[str, Stream]:
    """Give the streams as they are without a catalog.

    Returns:
        All of them, by name.
    """
    # From the classes, because the SDK creates streams only with a tap.
    declared = [(vars(stream), stream.ranges) for stream in STREAMS]
    return {
        said["name"]: Stream(
            said["name"],
            tuple(each.name for each in ranges),
            is_incremental="replication_key" in said,
        )
        for said, ranges in declared
    }


def streams_in(path: str | None) -> dict[str, Stream]:
    """Give the streams as a catalog has them.

    Args:
        path: The catalog's file; without one, all streams are selected.

    Returns:
        All streams, by name.

    Raises:
        StateError: The file is not a catalog.
    """
    streams = declared_streams()
    if path is None:
        return streams
    catalog = _read_catalog(path)
    return {
        name: _applied(stream, catalog.get_stream(name))
        for name, stream in streams.items()
    }


def find(streams: dict[str, Stream], name: str) -> Stream:
    """Find a stream that an option names.

    Args:
        streams: All streams.
        name: The option's value.

    Returns:
        The stream.

    Raises:
        StateError: There is no such stream.
    """
    if name not in streams:
        hint = did_you_mean(name, streams) or f"; there are {', '.join(streams)}"
        msg = f"--stream: there is no stream {name!r}{hint}"
        raise StateError(msg)
    return streams[name]


def _read_catalog(path: str) -> Catalog:
    try:
        text = checked("--catalog", path, CatalogFile, Secret(None)) or io.StringIO()
    except ConfigError as error:
        msg = "; ".join(error.errors)
        raise StateError(msg) from None
    return Catalog.from_dict(json.load(text))


def _applied(stream: Stream, entry: CatalogEntry | None) -> Stream:
    if entry is None:
        return stream._replace(is_selected=False)
    root = entry.metadata.get(())
    method = entry.replication_method or getattr(
        root, "forced_replication_method", None
    )
    key = entry.replication_key or getattr(root, "replication_key", None)
    is_incremental = method == REPLICATION_INCREMENTAL if method else key is not None
    return stream._replace(
        is_incremental=is_incremental and bool(stream.ranges),
        is_selected=entry.metadata.resolve_selection()[()],
    )
