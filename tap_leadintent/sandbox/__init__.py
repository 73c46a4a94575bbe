"""An offline stand-in for the buying-intent API, for tests, demos and first steps.

It serves the list endpoints by the rules of the API's description, with
deterministic data, and refuses everything that the description does not allow. Where
the description says "not shown", the sandbox makes a plausible choice of its own. The
real service may differ in each of these choices, so nothing should depend on them:

* `sort` takes `newest` (default) or `oldest` on every endpoint;
* the agents endpoint takes the list filters `statuses` and `agent_ids`;
* an empty filter list restricts nothing;
* without `cursor.limit` a page holds 25 records;
* the fields of signal accounts, monitored accounts, observations, custom signals
  and monitored leads;
* every status code, and the error body `{"error": {"code": ..., "message": ...}}`;
* both ends of a time range belong to it;
* without a time range, records are ordered by when they appeared;
* cursors are opaque, bound to endpoint, sort, filters and range, and contain
  characters that survive only if they are passed back unchanged.

By default, its clock shows the current time. A clock that is set stands still, and
moves only through the control routes under `/_sandbox/`.
"""

from tap_leadintent.sandbox.client import Sandbox, running_sandbox

__all__ = ["Sandbox", "running_sandbox"]
