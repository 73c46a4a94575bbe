"""Singer tap for the buying-intent leads and monitored accounts API.

How one page goes through the package: a reader thread sends one request (`api/http.py`)
as soon as `api/traffic.py` allows it, which also knows whether one has succeeded.
`api/clock.py` keeps the server's time, which `times.py` parses. `api/failures.py` knows
which statuses are a success. `api/page.py` decodes everything except the records.
`api/chain.py` and `api/pagination.py` follow the cursor; `api/endpoint.py` does so for
a time range. `replication/reader.py` keeps the page until its window has been read, and
`replication/windows.py` decides, with `replication/ledger.py`, whether it is cut.

The main thread emits the records in the order of time. `stream.py` takes the page from
`replication/run.py`, which has planned what to read. `records/pages.py` decodes its
records, compares them with the request (`records/contradictions.py`), leaves out what
was already emitted and has not changed (`records/duplicates.py`), and makes rows of the
others: `records/shaper.py`, with `records/column_types.py` and the computed columns
that `streams.py` declares. `findings.py` collects what to log. `stream.py` passes the
rows to the SDK, which calls `singer/stream.py` and `singer/writer.py`. Then
`replication/run.py` counts the window as covered, in `replication/bookmark.py`.
"""
