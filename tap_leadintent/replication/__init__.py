"""Reads an API by time ranges: several windows at once, in order, with a state.

It uses nothing else of this package but `times`, so another tap can use it, too. Such
a tap writes an `Api` for its endpoint (see `protocol`), says in a `Scope` what is to be
read, and reads the `Bookmark` in its state. A `ReplicationRun` then reads what is
missing. This API returns the seconds at which letters came, all in one page:

    >>> import json
    >>> class Page:
    ...     has_more = False
    ...     def __init__(self, body):
    ...         self.body = body
    ...         self.letters = json.loads(body)
    ...         self.records = len(self.letters)
    ...         self.fingerprint = hash(body)
    ...     @property
    ...     def ends(self):
    ...         return self.letters[0], self.letters[-1]
    >>> class Query:
    ...     records = 0
    ...     def __init__(self, interval):
    ...         self.interval = interval
    ...     def fetch(self, stopped, max_retries):
    ...         start, end = self.interval
    ...         found = [second for second in (500, 700) if start <= second <= end]
    ...         self.records += len(found)
    ...         return Page(json.dumps(found).encode())
    >>> class Mailbox:
    ...     parse = Page
    ...     def query(self, range_name, interval, limit):
    ...         return Query(interval)
    ...     def raise_if_interrupted(self):
    ...         pass

A run reads it by the range `came`, and returns the next state:

    >>> from tap_leadintent.replication.bookmark import Bookmark
    >>> from tap_leadintent.replication.plan import Scope
    >>> from tap_leadintent.replication.run import ReplicationRun
    >>> def read(state, now):
    ...     bookmark = Bookmark.read(state, page_size=100)
    ...     run = ReplicationRun(
    ...         api=Mailbox(),
    ...         bookmark=bookmark,
    ...         scope=Scope(ranges=["came"], start=0),
    ...         now=now,
    ...         complete_to=lambda: now,
    ...         save=lambda: None,
    ...         readers=4,
    ...         at_once=lambda: 4,
    ...         widest=86_400,
    ...     )
    ...     run.begin()
    ...     for range_name in run.passes():
    ...         for item in run.read(range_name):
    ...             if item.page and item.page.letters:
    ...                 print(item.page.letters)
    ...             if item.is_last:
    ...                 run.commit(range_name, item)
    ...     return bookmark.to_state()
    >>> state = read([], now=600)
    [500]
    >>> state = read(state, now=900)
    [700]
    >>> state[-1]
    {'range': 'came', 'from': '1970-01-01T00:00:00Z', 'to': '1970-01-01T00:15:00Z'}

The words of this folder:

* A range, or time range, is a field of a request such as `date_found`.
* An interval is two instants and everything between them.
* Coverage is the intervals of each range that have been read and written.
* A pass reads what is missing of one range, in one step or several.
* A step is intervals of one range that are read together, or all records.
* A window is an interval that is read by one query: pages that follow from one request.
* A hole is an interval that could not be read. Each run tries it again.
"""
