"""A target that checks records against their schemas never refuses one of the tap's.

So a target may be told not to check them, which takes half of its time.
"""

import io
import json
from typing import ClassVar
from unittest import mock

from hypothesis import example, given
from hypothesis import strategies as st
from singer_sdk import Sink, Target

from tap_leadintent.api.http import Client
from tap_leadintent.api.page import Page
from tap_leadintent.singer.writer import Writer
from tap_leadintent.tap import TapLeadIntent
from tests.support.arbitrary import catalogs, records
from tests.support.helpers import STREAMS, VALID, Json, entries, only


class Checking(Sink):
    """Checks as the SDK's targets do, the format of dates and times too."""

    validate_field_string_format = True
    max_size = 1_000

    def process_record(
        self,
        record: Json,
        context: Json,
    ) -> None:
        """Count it."""
        del record
        context["count"] = context.get("count", 0) + 1

    def process_batch(self, context: Json) -> None:
        """Do nothing: all records have been checked."""


class CheckingTarget(Target):
    """A target of the SDK that keeps nothing."""

    name = "target-checking"
    default_sink_class = Checking
    config_jsonschema: ClassVar[Json] = {"properties": {}}


def written(
    records: str,
    config: Json,
    catalog: Json,
) -> str:
    """Let the tap read a page of records, and give the lines that it writes."""
    envelope = f'{{"data": {records}, "cursor": {{"has_more": false}}}}'
    page = Page.of(envelope.encode())
    writer = mock.Mock(spec=["write_message"])
    # A second is one window.
    config = {
        **VALID,
        "end_date": "2026-01-01T00:00:01Z",
        **config,
    }
    with mock.patch.object(Client, "fetch", return_value=page):
        TapLeadIntent(
            config=config,
            catalog=catalog,
            message_writer=writer,
        ).sync_all()
    lines: list[str] = []
    for call in writer.write_message.call_args_list:
        (message,) = call.args
        line = Writer().format_message(message)
        lines.append(line.decode())
    return "".join(lines)


@given(
    st.sampled_from(STREAMS),
    catalogs,
    st.lists(records, max_size=3),
    st.sampled_from([{}, {"objects_as_text": True}]),
    st.none() | st.integers(1, 3),
)
@example(
    "leads",
    {},
    [
        {
            "id": "a",
            "signal": {"observed_at": "soon"},
            "score": {"value": "5"},
        }
    ],
    {},
    1,
)
def test_every_record_is_valid_as_a_target_checks_it(
    stream: str,
    columns: Json,
    records: list[Json],
    config: Json,
    depth: int | None,
) -> None:
    if depth is not None:
        flat = {
            "flattening_enabled": True,
            "flattening_max_depth": depth,
        }
        config = {**config, **flat}
    catalog = only(stream)
    entries(catalog)[stream]["schema"]["properties"].update(columns)
    lines = written(json.dumps(records), config, catalog)
    counter = CheckingTarget(config={}).process_lines(io.StringIO(lines))
    assert counter["RECORD"] <= len(records)
    assert counter["RECORD"] > 0 or not records
