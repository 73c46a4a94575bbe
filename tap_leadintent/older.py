"""Reads what an API leaves out of a list without a time range.

Some APIs return only the last weeks, or the newest so many records.
"""

from collections.abc import Generator, Mapping, Sequence

from tap_leadintent.api.page import Records
from tap_leadintent.errors import StreamError
from tap_leadintent.records.duplicates import Duplicates
from tap_leadintent.records.notes import RecordNotes
from tap_leadintent.replication.plan import BEGINNING, Step
from tap_leadintent.replication.plan_reader import PlanReader, WindowPage
from tap_leadintent.replication.ranges import range_fields
from tap_leadintent.times import parse_instant, time_at

MONTH = 30 * 86_400
"""Seconds. An API that leaves out older records without a word leaves out more than the
last month."""


def with_older(
    reader: PlanReader,
    everything: Step,
    duplicates: Duplicates,
    notes: RecordNotes,
    time_fields: Mapping[str, Sequence[str]],
) -> Generator[WindowPage]:
    """Read a list without a time range, and then what the API left out of it.

    There must be no older record that the list did not have. If there is one, all is
    read once more by time ranges.

    Args:
        reader: Reads the stream.
        everything: The list, and the time ranges that it covers.
        duplicates: Knows the records that have been emitted.
        notes: Gets a warning.
        time_fields: For the time ranges that a field of a record must lie in, the path
            of that field.

    Yields:
        Each page. The last one is the end of the list, if that was complete.

    Raises:
        StreamError: A page cannot be read.
        SystemExit: A signal came.
    """
    now = everything.intervals[-1][1]
    # A list whose records show no time may reach back a month, an empty one does not.
    until = now
    oldest = dict[str, str | None]()
    for page in reader.read([everything]):
        if page.records.data:
            until = now - MONTH
        for name, path in time_fields.items():
            times = (time_at(path, record) for record in page.records.data)
            known = filter(None, [oldest.get(name), *times])
            oldest[name] = min(known, default=None)
        # It is complete when everything below has been read, too.
        yield page._replace(is_last=False)
    # Times of another range do not help: a lead may be found long after its signal.
    ends = dict.fromkeys(everything.covers, until)
    ends |= {name: parse_instant(time) for name, time in oldest.items() if time}
    ends = {name: max(BEGINNING, end) for name, end in ends.items()}
    # An API may also refuse or cut more than a month, so the last month comes first.
    asked = [
        *(range_fields(n, max(BEGINNING, end - MONTH), end) for n, end in ends.items()),
        *(range_fields(n, BEGINNING, end) for n, end in ends.items()),
    ]
    older = map(reader.first_page, asked)
    try:
        has_older = any(map(duplicates.has_new, older))
    except StreamError as error:
        if not error.may_be_range:
            raise
        has_older = False
        notes.warn_once(
            "The API refuses to be asked for old records, so nobody knows whether it "
            "has left out some; with start_date, they are read in parts"
        )
    if has_older:
        notes.warn_once(
            "The API leaves out old records when it is asked for all, so all of it is "
            "read once more, in parts; start_date spares the first reading"
        )
        intervals = everything.intervals
        yield from reader.read([Step(n, intervals, [n]) for n in everything.covers])
    # The windows of the second reading have covered what could be read.
    yield page._replace(records=Records([], []), is_last=not has_older)
