"""APIs that begin to ignore a time range after they have obeyed it; `model` is the API.

Every record is loaded again in each run then, so nothing is missing until the error.
"""

from dataclasses import dataclass, field
from typing import Any

import pytest

from tap_leadintent.singer.errors import RunError
from tests.support.helpers import Json
from tests.support.model import DAY, EPOCH, EVER, HOUR, Api, lead, range_of
from tests.support.model_runs import run
from tests.support.store import Store

pytestmark = pytest.mark.usefixtures("no_thread_is_left_behind")

FULL = {"page_size": 100}
"""Settings as most users have them."""

UPGRADE = 40 * DAY

IGNORED = "load the stream completely in each run"
"""What the error says to do."""


@dataclass
class UpgradedApi(Api):
    """An API that may ignore its ranges from an instant on."""

    ignored: str = ""
    """What it ignores then: "both ends" or "start"."""
    upgraded_at: float = UPGRADE
    stream: str = "leads"
    """Which fields its records have."""
    unit: int = 1
    """Seconds that it rounds ranges to."""
    is_unchanged: bool = False
    """Whether a record has the same content in all of its versions."""
    timeless: int = 0
    """How many records without a time it returns in each answer."""
    timeless_at: float = 9_999 * DAY
    """Where these are in its order."""
    ignores_zero: bool = False
    """Whether it returns everything if a range begins with the first second of 1970."""
    questions: list[tuple[float, float]] = field(default_factory=list)
    """The ranges of its requests that cannot hold any records."""

    def respond(self, body: Json) -> tuple[int, Json]:
        has_begun = self.now >= self.upgraded_at
        self.ignores_start = has_begun and bool(self.ignored)
        self.ignores_end = has_begun and self.ignored == "both ends"
        _, start, end = range_of(body)
        if end < -9999 * DAY or start > self.now + 300 * DAY:
            self.questions.append((start, end))
        return super().respond(body)

    def _rows(
        self,
        name: str,
        start: float,
        end: float,
        body: Json,
    ) -> Any:
        start -= start % self.unit
        end += -end % self.unit
        if self.ignores_zero and start == -EPOCH:
            start, end = EVER
        rows = super()._rows(name, start, end, body)
        for number in range(self.timeless):
            timeless = (self.timeless_at, f"timeless-{number:03}", 0, 0)
            rows.append(timeless)
        return rows

    def _answer(self, rows: Any, after: str) -> tuple[int, Json]:
        status, page = super()._answer(rows, after)
        for record in page["data"]:
            signal = record.pop("signal")
            if self.is_unchanged:
                record["version"] = 0
            match self.stream:
                case "leads":
                    record["signal"] = signal
                case "observations":
                    record.update(signal)
        return status, page


def upgraded(
    count: int,
    *,
    stream: str = "leads",
    ignored: str = "both ends",
    newest_first: bool = True,
    grows: bool = False,
) -> UpgradedApi:
    """Return an API with so many records before its upgrade.

    Then it gets four a day, or none.
    """
    leads = [lead(n, n * UPGRADE / count) for n in range(count)]
    if grows:
        for number in range(1, 80):
            found_at = UPGRADE + number * DAY / 4
            leads.append(lead(count + number, found_at))
    return UpgradedApi(
        now=UPGRADE - 2 * DAY,
        leads=leads,
        ignored=ignored,
        newest_first=newest_first,
        stream=stream,
    )


def runs_until_error(
    api: UpgradedApi,
    store: Store,
    each: int,
    most: int,
) -> int | None:
    """Run until an error; return which run after the upgrade it is, None without one.

    Nothing may be missing after a run without an error.
    """
    number = 0
    while number < most:
        number += api.now >= api.upgraded_at
        try:
            run(api, store, FULL, selected=(api.stream,))
        except RunError as error:
            if IGNORED not in str(error) or not number:
                raise
            return number
        assert store.rows.keys() == api.visible().keys()
        api.now += each
    return None


def assert_later_runs_say_so(api: UpgradedApi, store: Store) -> None:
    """Assert that each further run ends with the error, however far back it reads."""
    for _ in range(3):
        api.now += DAY
        with pytest.raises(RunError, match=IGNORED):
            run(api, store, FULL, selected=(api.stream,))


# It is noticed


@pytest.mark.parametrize("newest_first", [True, False])
@pytest.mark.parametrize("ignored", ["both ends", "start"])
@pytest.mark.parametrize("count", [20, 198])
@pytest.mark.parametrize("stream", ["leads", "observations"])
def test_the_first_run_says_so_if_records_have_a_time(
    stream: str,
    count: int,
    ignored: str,
    *,
    newest_first: bool,
) -> None:
    api = upgraded(
        count,
        stream=stream,
        ignored=ignored,
        newest_first=newest_first,
    )
    store = Store()
    assert runs_until_error(api, store, DAY, 3) == 1
    assert store.rows.keys() == api.visible().keys()
    assert len(api.questions) <= 2
    assert_later_runs_say_so(api, store)


@pytest.mark.parametrize("grows", [True, False])
@pytest.mark.parametrize("newest_first", [True, False])
@pytest.mark.parametrize(
    ("each", "ignored", "most", "count"),
    [
        (HOUR, "both ends", 36, 90),
        (DAY, "both ends", 7, 198),
        (DAY, "start", 7, 90),
    ],
)
def test_some_days_later_a_run_says_so_if_records_have_no_time(  # noqa: PLR0913
    each: int,
    ignored: str,
    most: int,
    count: int,
    *,
    newest_first: bool,
    grows: bool,
) -> None:
    api = upgraded(
        count,
        stream="monitored_leads",
        ignored=ignored,
        newest_first=newest_first,
        grows=grows,
    )
    store = Store()
    number = runs_until_error(api, store, each, 2 * DAY // each + most)
    assert number is not None
    assert number <= most
    assert len(api.questions) <= 2
    assert_later_runs_say_so(api, store)


@pytest.mark.parametrize("stream", ["leads", "monitored_leads"])
def test_the_first_run_says_so_of_a_long_list(stream: str) -> None:
    """It is read in several windows, which all begin alike."""
    api = upgraded(5_000, stream=stream)
    store = Store()
    assert runs_until_error(api, store, DAY, 3) == 1
    assert_later_runs_say_so(api, store)


def test_an_api_that_obeys_again_is_read_on() -> None:
    api = upgraded(20, stream="monitored_leads")
    store = Store()
    assert runs_until_error(api, store, DAY, 9)
    api.ignored = ""
    for _ in range(3):
        api.now += DAY
        run(api, store, FULL, selected=(api.stream,))
    assert store.rows.keys() == api.visible().keys()


# An API that obeys is not asked


@pytest.mark.parametrize("unit", [60, DAY])
@pytest.mark.parametrize(
    ("each", "per_day", "days"),
    [
        (HOUR, 5, 3),
        (DAY, 0.2, 10),
    ],
)
@pytest.mark.parametrize("stream", ["leads", "monitored_leads"])
def test_ordinary_runs_ask_nothing(
    stream: str,
    each: int,
    per_day: float,
    days: int,
    unit: int,
) -> None:
    count = int(50 * per_day)
    api = UpgradedApi(
        now=UPGRADE,
        leads=[lead(n, n * DAY / per_day) for n in range(count)],
        stream=stream,
        unit=unit,
    )
    store = Store()
    run(api, store, FULL, selected=(stream,))
    api.questions.clear()
    while api.now < UPGRADE + days * DAY:
        api.now += each
        run(api, store, FULL, selected=(stream,))
        assert store.rows.keys() == api.visible().keys()
        assert not api.questions


@pytest.mark.parametrize("each", [HOUR, DAY])
def test_a_record_that_comes_again_unchanged_is_asked_about_once(each: int) -> None:
    """As an account may do that has a new signal."""
    active = lead(0, 0, 0, UPGRADE + DAY, UPGRADE + 4 * DAY)
    api = UpgradedApi(
        now=UPGRADE,
        leads=[active],
        stream="monitored_leads",
        is_unchanged=True,
    )
    store = Store()
    asking: list[int] = []
    while api.now < UPGRADE + 8 * DAY:
        run(api, store, FULL, selected=(api.stream,))
        if api.questions:
            asking.append(len(api.questions))
        api.questions.clear()
        api.now += each
    assert asking == [2, 2]


def with_few_timeless() -> UpgradedApi:
    """Return an API whose every answer has three records without a time."""
    return UpgradedApi(
        now=UPGRADE,
        leads=[lead(n, n * HOUR) for n in range(41 * 24)],
        stream="monitored_leads",
        timeless=3,
    )


def test_records_without_a_time_that_every_answer_has_are_no_error() -> None:
    api = with_few_timeless()
    store = Store()
    asking = 0
    while api.now < UPGRADE + 7 * DAY:
        run(api, store, FULL, selected=(api.stream,))
        assert len(store.rows) == len(api.visible()) + 3
        asking += bool(api.questions)
        api.questions.clear()
        api.now += HOUR
    assert 1 <= asking <= 7


def test_times_in_another_zone_ask_nothing(caplog: pytest.LogCaptureFixture) -> None:
    api = UpgradedApi(
        now=UPGRADE,
        leads=[lead(n, n * HOUR) for n in range(1_300)],
        hours_off=14,
        unit=DAY,
    )
    store = Store()
    for _ in range(6):
        run(api, store, FULL)
        assert store.rows.keys() == api.visible().keys()
        assert not api.questions or api.now == UPGRADE, "a first load may ask"
        api.questions.clear()
        api.now += DAY / 2
    assert "outside the requested range of latest_signal" in caplog.text


@pytest.mark.parametrize(
    "refusal",
    [
        {},
        {"keeps_from": -9 * DAY, "refuses_the_future": True},
        {"broken": (-99_999 * DAY, -9_999 * DAY), "broken_with": 403},
        {"broken": (-99_999 * DAY, -9_999 * DAY), "broken_with": 500},
    ],
    ids=["answers", "400", "403", "500"],
)
def test_times_that_are_days_off_are_no_error(refusal: Json) -> None:
    """Whatever the API says when it is asked for times without records."""
    api = UpgradedApi(
        now=UPGRADE,
        leads=[lead(n, n * HOUR) for n in range(1_300)],
        hours_off=-200,
    )
    store = Store()
    run(api, store, FULL)
    api.questions.clear()
    for name, value in refusal.items():
        setattr(api, name, value)
    for _ in range(6):
        api.now += DAY / 2
        run(api, store, FULL)
        assert store.rows.keys() == api.visible().keys()
        # What may be a limit of requests is sent some times more.
        assert 2 <= len(api.questions) <= (5 if api.broken_with == 403 else 2)
        api.questions.clear()


def test_the_first_second_of_1970_may_stand_for_no_bound() -> None:
    """As in programs in which 0 counts as a bound that is not given."""
    active = lead(0, 0, 0, UPGRADE + DAY, UPGRADE + 4 * DAY)
    others = [lead(n, n * HOUR) for n in range(1, 41 * 24)]
    api = UpgradedApi(
        now=UPGRADE,
        leads=[active, *others],
        stream="monitored_leads",
        newest_first=False,
        is_unchanged=True,
        ignores_zero=True,
    )
    store = Store()
    for _ in range(15):
        run(api, store, FULL, selected=(api.stream,))
        assert store.rows.keys() == api.visible().keys()
        api.now += DAY
    assert api.questions


def test_records_without_a_time_are_no_error_in_quiet_weeks() -> None:
    api = with_few_timeless()
    store = Store()
    # Windows of one run that all hold only these are an error, too.
    config = {**FULL, "lookback_days": 1}
    for _ in range(40):
        run(api, store, config, selected=(api.stream,))
        assert len(store.rows) == len(api.visible()) + 3
        api.now += DAY


def test_pages_full_of_records_without_a_time_are_no_error() -> None:
    api = UpgradedApi(
        now=UPGRADE,
        leads=[lead(n, n * HOUR) for n in range(50 * 24)],
        stream="monitored_leads",
        timeless=120,
        timeless_at=-9_999 * DAY,
    )
    store = Store()
    # Several readers may cut windows so short that two hold nothing else.
    config = {**FULL, "concurrency": 1}
    for _ in range(9):
        run(api, store, config, selected=(api.stream,))
        assert len(store.rows) == len(api.visible()) + 120
        api.now += DAY
    assert api.questions
