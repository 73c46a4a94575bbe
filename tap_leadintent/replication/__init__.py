"""Reads an API by time ranges: several windows at once, in order, with a state.

It uses nothing else of this package but `times`, so another tap can use it, too. Such
a tap writes an `Api` for its endpoint (see `protocol`), plans what to read
(`make_plan`), iterates over `PlanReader.read`, and calls `Bookmark.cover` for each
window whose records have been written, and `Bookmark.leave` for each hole.

* A range, or time range, is a field of a request such as `date_found`.
* An interval is two instants and everything between them.
* Coverage is the intervals of each range that have been read and written.
* A plan has steps; each reads intervals of one range, or all records.
* A window is an interval that is read by one query: pages that follow from one request.
* A hole is an interval that could not be read. Each run tries it again.
"""
