"""Every run gets on, whatever ends it, and what a bounded run leaves."""

import logging
from contextlib import suppress
from dataclasses import dataclass, field

import pytest

from tap_leadintent.singer.errors import RunError
from tests.support.helpers import Json, lines_with
from tests.support.model import DAY, HOUR, Api, Lead, Version, lead, second, steady
from tests.support.model_runs import asked, missing, run
from tests.support.store import Store

pytestmark = pytest.mark.usefixtures("_quiet")

TEN = {
    "page_size": 10,
    "lookback_days": 2,
    "concurrency": 4,
}


@dataclass
class Quota(Api):
    """An API that refuses each request after so many of a run."""

    left: float = 0

    def respond(self, body: Json) -> tuple[int, Json]:
        if not self.left:
            self.refused.append(body)
            return 401, {"error": "no request is left"}
        self.left -= 1
        return super().respond(body)


@dataclass
class Killing(Quota):
    """An API whose last response of a run comes when the run has been killed."""

    store: Store = field(default_factory=Store)

    def respond(self, body: Json) -> tuple[int, Json]:
        if not self.left:
            self.store.begin(killed_after=0)
        return super().respond(body)


def late_leads(per_day: int, days: int) -> list[Lead]:
    """Return leads of which every third appears some hours late."""
    leads = []
    for number in range(per_day * days):
        found = number * DAY / per_day
        late = (number % 3) * 5 * HOUR
        leads.append(
            Lead(
                f"lead-{number}",
                found,
                [Version(found + late, found)],
            )
        )
    return leads


def is_loaded(
    api: Api,
    store: Store,
    config: Json,
) -> bool:
    """Run the tap, which may fail; return whether it has read everything."""
    try:
        return run(api, store, config)
    except RunError:
        store.end()
        return False


def is_loaded_within(
    quota: int,
    api: Quota,
    store: Store,
    config: Json = TEN,
) -> bool:
    """Run the tap, which fails after so many requests."""
    api.left = quota
    return is_loaded(api, store, config)


def shortened(store: Store) -> Json:
    """Change a state as runs do that end before they complete anything.

    Returns:
        The entry of it that is about the stream.
    """
    head: Json
    head, *_ = store.state["bookmarks"]["leads"]["coverage"]
    head["most_pages"] = {"date_found": 1, "latest_signal": 1}
    return head


@pytest.mark.parametrize(
    ("quota", "per_day", "every", "runs"),
    [
        pytest.param(40, 40, DAY, 12, id="a day's requests"),
        pytest.param(60, 240, HOUR, 30, id="an hour's requests"),
    ],
)
def test_runs_that_a_quota_ends_load_everything(
    quota: int,
    per_day: int,
    every: int,
    runs: int,
) -> None:
    """What is new is more than what one request a run can bring."""
    api = Quota(
        now=15 * DAY,
        leads=late_leads(per_day, 40),
    )
    store = Store()
    left = [len(api.visible())]
    for _ in range(runs):
        is_loaded_within(quota, api, store)
        left.append(missing(api, store))
        api.now += every
    # What has appeared since the last runs may still be on its way.
    assert left[-1] <= 3 * per_day * every / DAY, left


def test_an_import_is_loaded_by_runs_of_half_the_time() -> None:
    leads = [lead(n, DAY + n % 300) for n in range(1_200)]
    api = Quota(
        now=2 * DAY,
        leads=leads,
    )
    store = Store()
    left = [len(leads)]
    while left[-1] and len(left) < 9:
        is_loaded_within(100, api, store)
        left.append(missing(api, store))
    assert left[-1] == 0, left


def test_after_a_pause_few_requests_are_enough_to_catch_up() -> None:
    api = Quota(
        now=10 * DAY,
        leads=late_leads(60, 60),
    )
    store = Store()
    assert is_loaded_within(10**6, api, store)
    api.now += 12 * DAY
    left: list[int] = []
    for _ in range(12):
        is_loaded_within(60, api, store)
        left.append(missing(api, store))
        api.now += DAY
    assert left[-1] == 0, left


def test_the_deep_reading_of_runs_with_few_requests_hides_nothing_new() -> None:
    """A long lookback is read again in some runs, which also load what is new."""
    config = {**TEN, "lookback_days": 16}
    api = Quota(
        now=20 * DAY,
        leads=late_leads(120, 50),
    )
    store = Store()
    assert is_loaded_within(10**6, api, store, config)
    waited: list[int] = []
    for _ in range(10 * 4):
        api.now += 6 * HOUR
        if is_loaded_within(100, api, store, config):
            waited.append(0)
            # What has appeared late is due within twice its lateness.
            due = api.found_before(api.now - 2 * DAY)
            assert due <= store.rows.keys()
        else:
            waited.append(waited[-1] + 1)
    assert max(waited) <= 40, waited


# A budget, which is a setting


def test_a_budgeted_run_ends_cleanly_and_says_what_is_left(
    caplog: pytest.LogCaptureFixture,
) -> None:
    logging.disable(logging.NOTSET)
    caplog.set_level(logging.INFO)
    api = Api(
        now=20 * DAY,
        leads=steady(480),
    )
    store = Store()
    config = {**TEN, "max_requests_per_run": 60}
    streams = ("leads", "observations", "signal_agents")
    lines: list[str] = []
    for _ in range(20):
        caplog.clear()
        is_whole = run(api, store, config, selected=streams)
        lines = lines_with("max_requests_per_run", caplog.messages)
        assert bool(lines) == (not is_whole)
        if is_whole:
            break
        (line,) = lines
        assert line.startswith("max_requests_per_run (60) is used up, and the next ")
    assert not lines
    assert missing(api, store) == 0


def test_the_next_run_begins_with_the_streams_that_were_not_reached() -> None:
    api = Api(
        now=20 * DAY,
        leads=steady(480),
    )
    store = Store()
    config = {
        **TEN,
        "max_requests_per_run": 40,
        "concurrency": 1,
    }
    streams = ("leads", "observations")
    run(api, store, config, selected=streams)
    for name, _, _ in asked(api):
        assert name == "date_found"
    assert store.state["bookmarks"]["observations"]["not_reached"] == 1
    run(api, store, config, selected=streams)
    (name, _, _), *_ = asked(api)
    assert name == "observed_at"
    assert store.state["bookmarks"]["observations"]["not_reached"] == 0


@pytest.mark.parametrize(
    ("stream", "text"),
    [("leads", "complete one window of it"), ("signal_agents", "complete its list")],
)
def test_a_budget_that_completes_nothing_is_an_error(stream: str, text: str) -> None:
    """Such as with a second, or a list, that is larger than the budget."""
    leads = [lead(n, DAY) for n in range(200)]
    api = Api(
        now=2 * DAY,
        leads=leads,
    )
    store = Store()
    config = {**TEN, "max_requests_per_run": 10}
    messages: list[str] = []
    while len(messages) < 2:
        try:
            run(api, store, config, selected=(stream,))
        except RunError as error:
            messages.append(str(error))
            store.end()
    for message in messages:
        assert "raise max_requests_per_run (now 10) to at least twice" in message
        assert text in message


@pytest.mark.parametrize(
    ("pages", "budget", "beside"),
    [
        (5, 25, 0),
        (5, 60, 8),
        (20, 40, 0),
        (20, 60, 8),
        (20, 120, 0),
    ],
)
def test_a_crowded_second_that_fits_is_loaded(
    pages: int,
    budget: int,
    beside: int,
) -> None:
    """A run looks for it where the one before has come to."""
    crowded = [lead(n, 3 * DAY) for n in range(10 * pages)]
    others = [lead(1000 + n, n * HOUR) for n in range(24 * beside)]
    api = Api(
        now=9 * DAY,
        leads=crowded + others,
    )
    store = Store()
    is_whole = False
    config = {**TEN, "max_requests_per_run": budget}
    for _ in range(24):
        is_whole = is_loaded(api, store, config)
        if is_whole:
            break
    assert is_whole
    assert missing(api, store) == 0


def test_windows_get_shorter_in_whichever_range_nothing_was_completed() -> None:
    api = Api(
        now=2 * DAY,
        leads=[lead(n, DAY) for n in range(200)],
    )
    store = Store()
    assert run(api, store, TEN)
    head, found, _signals = store.state["bookmarks"]["leads"]["coverage"]
    assert found["range"] == "date_found"
    store.state["bookmarks"]["leads"]["coverage"] = [head, found]
    config = {**TEN, "concurrency": 1, "max_requests_per_run": 10}
    shortest: list[int] = []
    for _ in range(12):
        with suppress(RunError):
            run(api, store, config)
        store.end()
        head, *_ = store.state["bookmarks"]["leads"]["coverage"]
        shortest.extend(head.get("most_pages", {}).values())
    assert min(shortest) < 13


@pytest.mark.parametrize("kind", [Quota, Killing])
def test_what_is_new_in_the_first_range_does_not_hold_up_the_last(
    kind: type[Quota],
) -> None:
    """Each run completes the last hour, and then comes to a crowd in the last range."""
    crowd = [lead(n, 10 * DAY + n % 300) for n in range(4_000)]
    # So many come in an hour that a STATE follows them.
    new = [lead(10_000 + n, 15 * DAY + n * HOUR / 320) for n in range(320 * 20)]
    api = kind(
        now=15 * DAY,
        leads=crowd + new,
    )
    store = Store()
    if isinstance(api, Killing):
        api.store = store
    config = {**TEN, "page_size": 100, "lookback_days": 0}
    assert is_loaded_within(10**6, api, store, config)
    for entry in store.state["bookmarks"]["leads"]["coverage"]:
        if entry.get("range") == "latest_signal":
            entry["to"] = second(9 * DAY)
    for _ in range(24):
        api.now += HOUR
        is_loaded_within(80, api, store, config)
        *_, newest = store.state["bookmarks"]["leads"]["coverage"]
        if newest["to"] > second(10 * DAY + 10):
            break
    else:
        pytest.fail(f"the runs have come to {newest['to']}")


def test_few_requests_are_enough_where_records_are_sparse() -> None:
    """Short windows are as long as the records allow, from the first one on."""
    api = Api(
        now=60 * DAY,
        leads=steady(100, DAY),
    )
    store = Store()
    assert run(api, store, TEN)
    head = shortened(store)
    store.state["bookmarks"]["leads"]["coverage"] = [head]
    config = {**TEN, "concurrency": 1, "max_requests_per_run": 10}
    is_whole = False
    for _ in range(8):
        api.now += 6 * HOUR
        is_whole = is_loaded(api, store, config)
        if is_whole:
            break
    assert is_whole, store.state


def test_windows_get_longer_again_where_runs_complete_many() -> None:
    """Many short ones cost more requests than a run may send, so none would be whole.

    Before, the API was so slow that runs were ended before they completed anything.
    """
    config = {**TEN, "concurrency": 1}
    api = Quota(
        now=20 * DAY,
        leads=late_leads(120, 60),
    )
    store = Store()
    assert is_loaded_within(10**6, api, store, config)
    shortened(store)
    is_whole = False
    for _ in range(20):
        api.now += DAY
        is_whole = is_loaded_within(100, api, store, config)
        if is_whole:
            break
    assert is_whole, store.state


def test_runs_that_are_killed_keep_small_windows() -> None:
    """Each is killed before there would be enough records for a STATE."""
    store = Store()
    api = Killing(
        now=20 * DAY,
        leads=steady(480),
        store=store,
    )
    for _ in range(48):
        is_loaded_within(25, api, store)
        # How far each run comes depends on the threads.
        if missing(api, store) < len(api.leads):
            break
    else:
        pytest.fail("no run has come on")


def test_a_run_that_has_completed_a_window_makes_no_window_shorter() -> None:
    api = Api(
        now=80 * DAY,
        leads=steady(2_000),
    )
    store = Store()
    is_whole = is_loaded(api, store, {**TEN, "max_requests_per_run": 100})
    assert not is_whole
    assert missing(api, store)
    head, *_ = store.state["bookmarks"]["leads"]["coverage"]
    assert "most_pages" not in head


def test_a_comparison_that_is_refused_says_nothing_about_limits() -> None:
    """A page that is full and the last one may have been cut."""
    api = Quota(
        now=2 * DAY,
        leads=steady(40),
        left=10**6,
    )
    store = Store()
    assert run(api, store, TEN)
    api.leads += [lead(100 + n, 2 * DAY + 60 * n) for n in range(10)]
    api.now += HOUR
    api.left = 1
    with pytest.raises(RunError, match="401"):
        run(api, store, TEN)
    head, *_ = store.state["bookmarks"]["leads"]["coverage"]
    assert "caps" not in head


def test_an_api_that_returns_nothing_makes_no_window_shorter() -> None:
    api = Quota(
        now=2 * DAY,
        leads=steady(40),
        left=10**6,
    )
    store = Store()
    assert run(api, store, TEN)
    api.left = 0
    for _ in range(3):
        api.now += DAY
        with pytest.raises(RunError):
            run(api, store, TEN)
        head, *_ = store.state["bookmarks"]["leads"]["coverage"]
        assert "most_pages" not in head


# What the API cannot return yet


@dataclass
class Slow(Api):
    """It fails for ranges that end in its newest minutes."""

    newest: int = 300
    """How many seconds these are."""

    def respond(self, body: Json) -> tuple[int, Json]:
        self.broken = (self.now - self.newest, self.now + DAY)
        return super().respond(body)


@pytest.mark.parametrize("status", [400, 500])
def test_minutes_that_the_api_cannot_return_yet_are_left_to_the_next_run(
    status: int,
    caplog: pytest.LogCaptureFixture,
) -> None:
    logging.disable(logging.NOTSET)
    api = Slow(
        now=2 * DAY,
        leads=steady(200),
        broken_with=status,
    )
    store = Store()
    config: Json = {**TEN, "max_retries": 0}
    for _ in range(3):
        caplog.clear()
        assert run(api, store, config)
        warnings = lines_with("cannot return yet", caplog.messages)
        assert len(warnings) == 1
        due = api.found_before(api.now - 900)
        assert due <= store.rows.keys()
        entries = store.state["bookmarks"]["leads"]["coverage"]
        for entry in entries:
            assert "hole" not in entry
        assert second(api.now - 900) <= entries[1]["to"] < second(api.now - 299)
        api.now += HOUR


def test_more_than_minutes_are_a_hole() -> None:
    """It is an error, as the API may have a fault that lasts."""
    api = Slow(
        now=2 * DAY,
        leads=steady(200),
        newest=1800,
    )
    store = Store()
    with pytest.raises(RunError, match="each run tries again to read"):
        run(api, store, {**TEN, "max_retries": 0})
    store.end()
    entries = store.state["bookmarks"]["leads"]["coverage"]
    holes = [entry for entry in entries if "hole" in entry]
    assert {entry["to"] for entry in holes} == {second(api.now)}
