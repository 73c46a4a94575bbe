"""A model of the API that does some things in its own way."""

import json
from dataclasses import dataclass, field

from tests.support.helpers import Json
from tests.support.model import Api, Lead, Row, range_of, second


@dataclass
class Server(Api):
    """An API that answers in its own way."""

    unit: int = 1
    """Seconds that ranges are rounded to."""
    longest: int = 0
    """Seconds to which a longer range is cut; 0 for never."""
    keeps_end: bool = False
    """Whether a range that is cut keeps its end, and not its start."""
    page: int = 0
    """The most records of a page; 0 for as many as asked for."""
    most: int = 100
    """Requests that ask for more records are refused."""
    ignores_limit: bool = False
    """Whether a query is returned in one page."""
    cap: int = 0
    """Records after which a query ends; 0 for never."""
    lacks: int = 0
    """Every how many leads one is not returned by `latest_signal`; 0 for never."""
    promises_more: bool = False
    """Whether an empty page follows each last one."""
    shortest: int = 0
    """Seconds of the shortest range that is accepted."""
    says: Json = field(default_factory=dict)
    """Further fields of the envelope."""

    def respond(self, body: Json) -> tuple[int, Json]:
        name, start, end = range_of(body)
        changed = {**body}
        cursor = {**body["cursor"]}
        if cursor["limit"] > self.most:
            self.refused.append(body)
            return 400, {"error": f"cursor.limit must be at most {self.most}"}
        if name:
            if self.refuses_the_future and end > self.now:
                self.refused.append(body)
                return 422, {"error": "end_time lies in the future"}
            if end - start < self.shortest:
                self.refused.append(body)
                return 400, {"error": "the range is too short"}
            start = start // self.unit * self.unit
            end = -(-end // self.unit) * self.unit
            if self.longest and end - start > self.longest:
                if self.keeps_end:
                    start = end - self.longest
                else:
                    end = start + self.longest
            if self.refuses_the_future:
                end = min(end, self.now)
            changed[name] = {
                "start_time": second(start),
                "end_time": second(end),
            }
        if self.ignores_limit:
            cursor["limit"] = 100_000
        if self.page:
            cursor["limit"] = min(cursor["limit"], self.page)
        changed["cursor"] = cursor
        code, page = super().respond(changed)
        return code, {**page, **self.says}

    def _answer(
        self,
        rows: list[Row],
        after: str,
    ) -> tuple[int, Json]:
        if self.promises_more and rows:
            after = json.dumps(rows[-1][:2])
        return super()._answer(rows, after)

    def _near(
        self,
        start: float,
        end: float,
        *,
        by_found: bool,
    ) -> list[Lead]:
        if self.ignores_end:
            return self.leads
        return super()._near(start, end, by_found=by_found)

    def _rows(
        self,
        name: str,
        start: float,
        end: float,
        body: Json,
    ) -> list[Row]:
        rows = super()._rows(name, start, end, body)
        if self.lacks and name == "latest_signal":
            rows = [row for row in rows if self._has(row)]
        if not self.cap:
            return rows
        rows = sorted(rows, reverse=self.newest_first)
        return rows[: self.cap]

    def _has(self, row: Row) -> bool:
        _, name, *_ = row
        number = int(name[-4:])
        return number % self.lacks != 0
