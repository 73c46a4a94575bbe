"""Reads an API by time ranges: several windows at once, in order, with a state.

It uses nothing else of this package but `times`, so another tap can use it, too. Such
a tap writes an `Api` for its endpoint (see `protocol`), says in a `Scope` what is to be
read, and reads the `Bookmark` in its state. A `ReplicationRun` then reads what is
missing; its docstring has an example.

* A range, or time range, is a field of a request such as `date_found`.
* An interval is two instants and everything between them.
* Coverage is the intervals of each range that have been read and written.
* A step is intervals of one range that are read together, or all records.
* A window is an interval that is read by one query: pages that follow from one request.
* A hole is an interval that could not be read. Each run tries it again.
"""
