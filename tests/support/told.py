"""What runs over the model asked for, kept in the state, and warned of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.support.model_runs import CONFIG

if TYPE_CHECKING:
    import pytest

    from tests.support.model import Api
    from tests.support.store import Store

STRICT = {**CONFIG, "lookback_minutes": 0}


def asked(api: Api) -> list[tuple[str, str, str]]:
    """Give the ranges that were asked for since the last call, and forget them."""
    ranges = [
        (name, body[name]["start_time"], body[name]["end_time"])
        for body in api.requests
        for name in body
        if name in {"date_found", "latest_signal"}
    ]
    api.requests.clear()
    return ranges


def entries(store: Store) -> list[dict[str, Any]]:
    coverage: list[dict[str, Any]] = store.state["bookmarks"]["leads"]["coverage"]
    return coverage


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    """Give what was warned of the state since the last call, and forget it."""
    told = [
        record.getMessage()
        for record in caplog.records
        if record.levelname == "WARNING"
        and "only in additional_properties" not in record.getMessage()
    ]
    caplog.clear()
    return told
