"""Answers the questions about the fields of records and of pages."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
from jsonschema import Draft202012Validator

from tap_leadintent import openapi, times
from tap_leadintent.checkup.probe import Found, Path, Probe, TooFewError, walk
from tap_leadintent.checkup.wording import names

_is_type = Draft202012Validator.TYPE_CHECKER.is_type

_PARTIAL = {
    "sample",
    "samples",
    "sampled",
    "sampling",
    "preview",
    "demo",
    "mock",
    "test",
    "trial",
    "partial",
    "incomplete",
    "truncated",
    "capped",
    "degraded",
    "stale",
}
"""Words by which an API may say that a page does not hold all records."""

_NOTHING = {
    "",
    "0",
    "false",
    "no",
    "none",
    "off",
    "full",
    "complete",
}
"""Texts that mean that a field with such a name says nothing."""


def _values(probe: Probe) -> dict[Path, list[Any]]:
    """Return the values of the records' fields that are not null, by path."""
    seen = dict[Path, list[Any]]()
    for record in probe.records.values():
        for path, value in walk(record):
            values = seen.setdefault(path, [])
            if value is not None:
                values.append(value)
    if not seen:
        raise TooFewError("there are no records")
    return seen


def _documented(probe: Probe) -> dict[Path, Any]:
    """Return the schemas of the fields that are documented, by path."""
    return dict(walk(openapi.record_fields(probe.stream.name), "properties"))


def _write(paths: Iterable[Path]) -> str:
    return names(".".join(path) for path in paths)


def has_new_fields(probe: Probe) -> Found:
    """Which fields do records have that are not documented?"""
    known = _documented(probe)
    # What an undocumented object holds is not named field by field.
    objects = {path[:-1] for path in known}
    objects.add(())
    new = list[Path]()
    for path in _values(probe):
        if path not in known and path[:-1] in objects:
            new.append(path)
    if not new:
        return "no", {}
    case = "yes" if openapi.is_documented(probe.stream.name) else "undocumented"
    return case, {"names": _write(new)}


def lacks_fields(probe: Probe) -> Found:
    """Which documented fields does no record have?"""
    absent = _documented(probe).keys() - _values(probe)
    return "yes" if absent else "no", {"names": _write(absent)}


def has_other_types(probe: Probe) -> Found:
    """Which fields have values of another type than is documented?"""
    seen = _values(probe)
    others = list[Path]()
    for path, schema in _documented(probe).items():
        for value in seen.get(path, ()):
            if not _is_type(value, schema["type"]):
                others.append(path)
                break
    return "yes" if others else "no", {"names": _write(others)}


def are_keys_unique(probe: Probe) -> Found:
    """Does each record have an `id`, once on a page, and in one sheet?"""
    sheets = defaultdict[str, set[str]](set)
    without = set[str]()
    again = 0
    for page in probe.known:
        again = max(again, len(page.keys) - len({*page.keys}))
        for key, record in zip(
            page.keys,
            page.records,
            strict=True,
        ):
            if "id" not in record:
                without.add(key)
            elif record.get("sheet"):
                sheets[key].add(str(record["sheet"]))
    if without and openapi.is_documented(probe.stream.name):
        return "no_id", {"records": len(without)}
    several = 0
    for names_of_sheets in sheets.values():
        several += len(names_of_sheets) - 1
    if several:
        return "sheets", {"records": several}
    return "no" if again else "yes", {"records": again}


def has_times(probe: Probe) -> Found:
    """Do all records have the time of their range?"""
    [(name, path)] = probe.stream.time_fields.items()
    records = probe.records.values()
    without = 0
    for record in records:
        without += not times.time_at(path, record)
    found = {
        "records": without,
        "all": len(records),
        "names": ".".join(path),
    }
    found["range"] = name
    if not without:
        return "yes", found
    case = "no" if len(probe.stream.ranges) == 1 else "by_another"
    return case, found


def has_other_fields(probe: Probe) -> Found:
    """Which fields does the envelope have beside `data` and `cursor`?

    Those come first whose names or values sound as if records are missing. Of the
    others, it says which have the same value on all pages.
    """
    texts = defaultdict[str, Counter[bytes]](Counter)
    partial = set[str]()
    for answer in probe.known:
        for path, value in _envelope_fields(answer.page.other_fields):
            name = ".".join(path)
            texts[name][msgspec.json.encode(value)] += 1
            if _sounds_partial(name, value):
                partial.add(name)
    if not texts:
        return "no", {}
    for name in partial:
        del texts[name]
    others = _write_others(texts, len(probe.known))
    if not partial:
        return "yes", {"names": "; ".join(others)}
    others.insert(0, "")
    return "partial", {
        "names": names(partial),
        "others": "; ".join(others),
    }


def _write_others(texts: Mapping[str, Counter[bytes]], pages: int) -> list[str]:
    """Return the names of fields, those that never change apart from the others.

    Args:
        texts: How often each field had each value.
        pages: On how many pages.
    """
    constant = list[str]()
    changing = list[str]()
    for name, counts in texts.items():
        if pages > 1 and len(counts) == 1 and counts.total() == pages:
            constant.append(name)
        else:
            changing.append(name)
    written = list[str]()
    if changing:
        written.append(names(changing))
    if constant:
        written.append(f"always the same: {names(constant)}")
    return written


def _envelope_fields(
    fields: Mapping[str, msgspec.Raw],
) -> Iterable[tuple[Path, Any]]:
    """Yield the values of envelope fields, and of those in objects, by path."""
    for name, raw in fields.items():
        value = msgspec.json.decode(raw)
        if isinstance(value, dict):
            for inner, each in value.items():
                yield (name, inner), each
        else:
            yield (name,), value


def _sounds_partial(name: str, value: Any) -> bool:  # noqa: ANN401 - any JSON
    """Return whether a field of the envelope may say that records are missing."""
    text = str("" if value is None else value).lower()
    if _words(text) & _PARTIAL and isinstance(value, str):
        return True
    return bool(_words(name) & _PARTIAL) and text not in _NOTHING


def _words(text: str) -> set[str]:
    """Return the words of a text or of a name, such as `is_sample` or `isSample`."""
    spaced = re.sub(
        r"(?<=[a-z])(?=[A-Z])",
        " ",
        text,
    )
    return {*re.split(r"[^a-z]+", spaced.lower())}
