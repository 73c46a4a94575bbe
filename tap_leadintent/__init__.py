"""Singer tap for the buying-intent leads and monitored accounts API.

How one page goes through the package: `replication/run.py` has planned what to read.
A thread of `replication/reader.py` asks `api/endpoint.py` for an interval of a time
range; `api/chain.py` and `api/pagination.py` follow the cursor. `api/http.py` sends the
request as soon as `api/traffic.py` allows it. `api/clock.py` notes the server's time,
`api/page.py` decodes everything except the records, and `api/siblings.py` compares that
with other pages. `replication/reader.py` keeps the page until its window has been read.
`replication/windows.py` decides whether the window is cut, and what is read next.

The main thread emits the records in the order of time. `stream.py` takes the page from
`replication/run.py`. `records/pages.py` decodes its records, compares them with the
request (`records/contradictions.py`), leaves out what was already emitted and has not
changed (`records/duplicates.py`), and makes rows of the others: `records/shaper.py`,
with `records/column_types.py` and the computed columns that `streams.py` declares.
`findings.py` collects what to log. `stream.py` passes the rows to the SDK, which calls
`singer/stream.py` and `singer/writer.py`. Then `replication/run.py` counts the window
as covered, in `replication/bookmark.py`.

How one failure goes through it: `api/http.py` gets no page. `api/explanations.py` makes
a `StreamError` of that, by the tables in `api/failures.py`. `api/retries.py` decides
whether the request is sent again, and `api/traffic.py` for how long all requests wait.
If not, `api/chain.py` begins the chain again, `replication/search.py` cuts the window
or leaves it as a hole, or the error ends the stream. `run.py` logs it, reads the other
streams, and raises a `RunError`, whose text `singer/tap.py` logs as the last line.

How a setting goes through it: `singer/files.py` reads it, and `config/validation.py`
checks it. `config/settings.py` parses it; `config/scope.py` makes the time to read from
`start_date`, `end_date` and `lookback_days`, which `replication/run.py` reads.

How a state goes through it: `singer/files.py` reads the file, and `stream_state.py` and
`replication/bookmark.py` the part of a stream. `state_checks.py` refuses the state of
another place. `replication/plan.py` says what of it is due to be read again. For each
STATE, which `singer/stream.py` writes, `stream.py` returns what is covered.
"""
