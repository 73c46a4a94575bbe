"""Courses of events, in which rows get lost on their way into a warehouse."""

from unittest import mock

from hypothesis import strategies as st
from typing_extensions import override

from tap_leadintent.state_tool.changes import forget
from tap_leadintent.times import parse_instant, utc_timestamp
from tests.support.helpers import Json, where
from tests.support.model import DAY, HOUR, Api, Lead, Row, Version, iso
from tests.support.model_runs import run
from tests.support.warehouse import TIMES, Result, Warehouse

CHECKED = {
    "leads": "latest_signal",
    "observations": "observed_at",
    "signal_agents": "all",
}
STREAMS = (*CHECKED, "loads")

LOOKBACK = 1800
CONFIG = {
    "page_size": 5,
    "load_receipts": True,
    "lookback_days": LOOKBACK / DAY,
    "max_retries": 0,
    "concurrency": 1,
}


NO_BATCH: set[int] = set()
LOST_BATCHES = [
    NO_BATCH,
    NO_BATCH,
    NO_BATCH,
    {1},
    {2},
    {3},
    {1, 4},
]
"""The batches of a run that may be lost."""


class Records(Api):
    """The model, whose leads also stand for observations and agents."""

    @override
    def _answer(
        self,
        rows: list[Row],
        after: str,
    ) -> tuple[int, Json]:
        status, page = super()._answer(rows, after)
        for record in page["data"]:
            record["observed_at"] = record["signal"]["observed_at"]
        return status, page


@st.composite
def histories(draw: st.DrawFn) -> list[Lead]:
    """Draw leads that appear late, and whose signals move."""
    drawn = []
    hours = st.integers(0, 12) | st.integers(-48, 144)
    found_hours = draw(st.lists(hours, max_size=20))
    for number, found_hour in enumerate(found_hours):
        found = found_hour * HOUR + 0.5 * (number % 3)
        age = draw(st.sampled_from([0, 0, 60, 9 * DAY]))
        visible = found + draw(st.sampled_from([0, 0, 900, LOOKBACK]))
        versions = [Version(visible, found - age)]
        pauses = draw(st.lists(st.integers(1, 90), max_size=2))
        for later in pauses:
            moved = versions[-1].shown_from + later * HOUR
            versions.append(Version(moved, moved))
        drawn.append(Lead(f"lead-{number}", found, versions))
    return drawn


def is_inside(
    stream: str,
    time: str | None,
    result: Result,
) -> bool:
    """Return whether a record with this time counts for a result."""
    if stream not in TIMES:
        return True
    assert result.checked_from
    assert result.checked_to
    if not time:
        return False
    return result.checked_from <= time < result.checked_to


def shown_by(
    api: Api,
    stream: str,
    result: Result,
) -> dict[str, str | None]:
    """Return the time of each record that the API shows, of those that count."""
    shown = {}
    for lead in api.leads:
        version = api.version(lead)
        if version is not None:
            time = utc_timestamp(iso(lead.versions[version].observed_at))
            if is_inside(stream, time, result):
                shown[lead.id] = time
    return shown


def written_inside(
    warehouse: Warehouse,
    stream: str,
    result: Result,
) -> dict[str, str | None]:
    """Return when each record that counts for a result was loaded."""
    field = TIMES.get(stream, "")
    written: dict[str, str | None] = {}
    for record in warehouse.written[stream].values():
        time = utc_timestamp(record.get(field))
        if is_inside(stream, time, result):
            written[record["id"]] = utc_timestamp(record["_sdc_extracted_at"])
    return written


def assert_losses_are_found(
    warehouse: Warehouse,
    api: Api,
    *,
    stands_still: bool = True,
) -> dict[str, Result]:
    """Assert that the query finds each loss after a run, and nothing else.

    Args:
        warehouse: The warehouse after a run that has read everything.
        api: The API.
        stands_still: Whether it has shown the same during all of the run.

    Returns:
        The results for the streams that lack rows.
    """
    results = warehouse.results()
    losses = {}
    for stream, time_range in CHECKED.items():
        result = results[stream, time_range]
        rows = warehouse.table(stream)
        written = written_inside(warehouse, stream, result)
        arrived = 0
        for name, loaded_at in written.items():
            arrived += name in rows and rows[name][1] == loaded_at
        assert result.checked_records == len(written)
        assert result.arrived == arrived
        if stream in TIMES:
            assert_reaches_back(warehouse, stream, result)
        if arrived < len(written):
            assert result.result == "missing"
            losses[stream] = result
            continue
        if not stands_still:
            assert result.result in {"complete", "too many"}
            continue
        # Without a loss, the table has everything that the API shows.
        shown = shown_by(api, stream, result)
        assert shown.keys() <= rows.keys()
        not_returned = 0
        if stream in TIMES:
            for name, (time, _) in rows.items():
                if name in shown:
                    assert shown[name] == time
                else:
                    not_returned += is_inside(stream, time, result)
        assert result.not_returned == not_returned
        assert result.result == ("too many" if not_returned else "complete")
    return losses


def assert_reaches_back(
    warehouse: Warehouse,
    stream: str,
    result: Result,
) -> None:
    """Assert that the interval has all that was not covered when the run began."""
    coverages: list[list[Json]] = []
    for message in warehouse.of_type("STATE"):
        bookmarks = message["value"]["bookmarks"]
        if stream in bookmarks:
            coverages.append(bookmarks[stream]["coverage"])
    covered = where(coverages[0], range=CHECKED[stream])
    if covered:
        end = max(entry["to"] for entry in covered)
        assert str(result.checked_from) <= str(utc_timestamp(end))


def forget_losses(warehouse: Warehouse, losses: dict[str, Result]) -> None:
    """Do what the page says about rows that are missing."""
    bookmarks = warehouse.state["bookmarks"]
    for stream, result in losses.items():
        if result.checked_from and result.checked_to:
            start = parse_instant(result.checked_from)
            end = parse_instant(result.checked_to)
            bookmarks[stream] = forget(
                bookmarks[stream],
                stream,
                (start, end),
            )


def play(
    data: st.DataObject,
    warehouse: Warehouse,
    most_runs: int,
) -> None:
    """Play a course of runs and losses, and assert that each loss is found.

    Rows are deleted by hand, backups restored, and batches lost; records are deleted in
    the API, persons erased; runs are stopped and killed, and records move during them.

    Args:
        data: Draws what happens.
        warehouse: An empty warehouse.
        most_runs: The most runs.
    """
    draw = data.draw
    api = Records(leads=draw(histories()))
    has_lost = False
    compared: dict[str, dict[str, str | None]] = {}
    for _ in range(draw(st.integers(2, most_runs))):
        api.now += draw(st.sampled_from([HOUR, HOUR, 5 * HOUR, DAY, 3 * DAY]))
        if warehouse.state:
            has_lost |= disturb(data, api, warehouse)
        warehouse.lost_batches = draw(st.sampled_from(LOST_BATCHES))
        has_lost |= bool(warehouse.lost_batches)
        api.seconds_per_request = draw(st.sampled_from([0, 0, 600]))
        has_read_all = run_somehow(data, api, warehouse)
        have_arrived = has_receipts(warehouse)
        if have_arrived:
            compared |= written_by_id(warehouse)
        if has_read_all and have_arrived:
            assert_losses_are_mended(warehouse, api)
            warehouse.save(*STREAMS)
            lacks_rows = has_other_losses(warehouse)
            has_lost = draw(st.integers(0, 3)) == 0
            if has_lost and api.leads:
                # What is deleted after the run is found, too.
                for stream in CHECKED:
                    warehouse.delete(stream, api.leads[0].id)
                assert_losses_are_found(warehouse, api, stands_still=False)
            has_lost |= lacks_rows
            continue
        for (stream, time_range), result in warehouse.results().items():
            assert has_lost or result.result != "missing"
            if result.result == "complete" and CHECKED[stream] == time_range:
                # It is about the last run whose receipts have arrived.
                assert_has_all(warehouse, stream, compared[stream], result)


def has_other_losses(warehouse: Warehouse) -> bool:
    """Assert that a range whose records carry no time says only what is true.

    It counts all rows, so it alone finds a loss at the end of the checked interval.

    Returns:
        Whether rows are lost.
    """
    has_lost = False
    for (stream, time_range), result in warehouse.results().items():
        if result.result != "missing" or CHECKED.get(stream) == time_range:
            continue
        rows = warehouse.table(stream)
        arrived = True
        for record in warehouse.written[stream].values():
            loaded_at = utc_timestamp(record["_sdc_extracted_at"])
            row = rows.get(record["id"])
            arrived &= row is not None and row[1] == loaded_at
        assert not arrived
        has_lost = True
    return has_lost


def assert_has_all(
    warehouse: Warehouse,
    stream: str,
    times: dict[str, str | None],
    result: Result,
) -> None:
    """Assert that the table has each of these records that counts for a result."""
    rows = warehouse.table(stream)
    for name, time in times.items():
        if is_inside(stream, time, result):
            assert name in rows


def written_by_id(warehouse: Warehouse) -> dict[str, dict[str, str | None]]:
    """Return the times of the records that the last run has written.

    Returns:
        For each stream with a receipt, the time of each record by its id.
    """
    found: dict[str, dict[str, str | None]] = {}
    streams = {load["stream"] for load in warehouse.written["loads"].values()}
    for stream in streams:
        field = TIMES.get(stream, "")
        times: dict[str, str | None] = {}
        for record in warehouse.written[stream].values():
            times[record["id"]] = utc_timestamp(record.get(field))
        found[stream] = times
    return found


def disturb(
    data: st.DataObject,
    api: Api,
    warehouse: Warehouse,
) -> bool:
    """Delete or restore something, or nothing; return whether rows may be lost."""
    events = ["", "", "", "", "remove", "delete", "erase", "restore"]
    event = data.draw(st.sampled_from(events))
    if event == "restore" and warehouse.has_copy:
        count = data.draw(st.integers(1, len(STREAMS)))
        warehouse.restore(*STREAMS[:count])
        return True
    if not event or not api.leads:
        return False
    gone = data.draw(st.sampled_from(api.leads))
    if event in {"remove", "erase"}:
        api.leads = [each for each in api.leads if each is not gone]
    if event in {"delete", "erase"}:
        for stream in CHECKED:
            warehouse.delete(stream, gone.id)
        return True
    return False


def run_somehow(
    data: st.DataObject,
    api: Api,
    warehouse: Warehouse,
) -> bool:
    """Run the tap once, which may be stopped or killed.

    Returns:
        Whether it has read everything.
    """
    config = {**CONFIG}
    if data.draw(st.integers(0, 4)) == 0:
        config["max_requests_per_run"] = data.draw(st.sampled_from([9, 15]))
    killed_after = data.draw(st.none() | st.none() | st.integers(0, 60))
    with mock.patch("tap_leadintent.singer.stream._MIN_BETWEEN_STATES", 4):
        return run(
            api,
            warehouse,
            config,
            selected=STREAMS,
            killed_after=killed_after,
        )


def has_receipts(warehouse: Warehouse) -> bool:
    """Return whether all receipts of the last run have arrived, and there are any."""
    query = "SELECT run_id, stream, time_range FROM tap_leadintent.loads"
    found = {*warehouse.ask(query)}
    written = set()
    for row in warehouse.written["loads"].values():
        written.add((row["run_id"], row["stream"], row["time_range"]))
    return bool(written) and written <= found


def assert_losses_are_mended(warehouse: Warehouse, api: Api) -> None:
    """Assert that each loss is found, and that what the page says mends it."""
    stands_still = not api.seconds_per_request
    losses = assert_losses_are_found(warehouse, api, stands_still=stands_still)
    if losses:
        forget_losses(warehouse, losses)
        warehouse.lost_batches = ()
        api.seconds_per_request = 0
        api.now += 60
        assert run(api, warehouse, CONFIG, selected=STREAMS)
        assert not assert_losses_are_found(warehouse, api)
