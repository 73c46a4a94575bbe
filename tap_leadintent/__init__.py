"""Singer tap for the buying-intent leads and monitored accounts API.

How a run comes to a page: `singer/tap.py` is the command line. It creates the tap
(`tap.py`) with its streams, and calls `sync_all`. `run.py` then syncs one stream after
the other. The SDK's `Stream.sync` calls the loop in `singer/stream.py`, and that calls
`get_records` in `streams/stream.py`. This asks `replication/run.py`, which has decided
with `replication/plan.py` what to read.

How one page goes through the package: a thread of `replication/reader.py` asks
`api/endpoint.py` for an interval of a time range; `api/chain.py` and
`api/pagination.py` follow the cursor. `api/http.py` sends the request with
`api/session.py` as soon as `api/traffic.py` allows it. `api/clock.py` notes the
server's time, `api/page.py` decodes everything except the records, and
`api/siblings.py` compares that with other pages. `replication/reader.py` keeps the page
until its window has been read. `replication/windows.py` decides what is read next, and
whether the window is cut; `replication/comparisons.py` finds out with
`replication/caps.py` whether its query is complete, and `replication/ledger.py` keeps
the state of each window.

The main thread emits the records in the order of time. `streams/stream.py` takes the
page from `replication/run.py`. `records/pages.py` decodes its records, compares them
with the request (`records/contradictions.py`), leaves out what was already emitted and
has not changed (`records/duplicates.py`), and makes rows of the others:
`records/shaper.py`, with `records/column_types.py` and the computed columns that
`streams/endpoints.py` declares. `findings.py` collects what to log. `streams/stream.py`
passes the rows to the SDK, which calls `singer/stream.py` and `singer/writer.py`. Then
`replication/run.py` counts the window as covered, in `replication/bookmark.py`.

How one failure goes through it: `api/http.py` gets no page. `api/explanations.py` makes
a `StreamError` of that, by the tables in `api/failures.py`. `api/retries.py` decides
whether the request is sent again, and `api/traffic.py` for how long all requests wait.
If it is not sent again, and if the API may have refused the cursor, `api/chain.py`
begins the chain again. Otherwise `api/endpoint.py` says whether a part of the interval
may succeed (`CutError`). If so, `replication/search.py` cuts the window, and in the end
leaves it as a hole: the stream goes on, and when everything else has been read,
`streams/stream.py` raises the error that `streams/holes.py` describes. If not, the
error ends the stream at once. `run.py` logs it, reads the other streams, and raises a
`RunError`, whose text `singer/tap.py` logs as the last line.

How a setting goes through it: `singer/files.py` reads it, `singer/tap.py` has it
checked (`singer/checks.py`, `config/validation.py`), and `tap.py` has it parsed
(`config/settings.py`). `streams/stream.py` lets `config/scope.py` make a `Scope` from
`start_date`, `end_date` and `lookback_days`, and `replication/run.py` reads what is
missing in it. `api/endpoint.py` writes the window that begins at `start_date` into a
request.

How a state goes through it: `singer/files.py` reads the file, the SDK gives each stream
its part, and `streams/state.py` and `replication/bookmark.py` read that.
`streams/state_checks.py` refuses the state of another place. `replication/plan.py`
decides which covered time is due to be read again. `replication/run.py` takes that out
of the coverage, and adds each window whose rows have been written. `singer/stream.py`
writes a STATE, for which `streams/stream.py` returns what is covered.
"""
