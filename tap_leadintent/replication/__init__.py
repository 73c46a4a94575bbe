"""Decides what a run reads, and reads several windows at once.

* A range, or time range, is a field of a request such as `date_found`.
* An interval is two instants and everything between them.
* Coverage is the intervals of each range that have been read and written.
* A plan has steps; each reads intervals of one range, or all records.
* A window is an interval that is read by one chain: pages that follow from one request.
"""
