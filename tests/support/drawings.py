"""Draws `docs/speed.svg` from the table of its page, and `docs/time.svg`.

`python -m tests.support.drawings` does both. The colours follow the reader's theme.
"""

from collections.abc import Iterable
from html import escape

from tests.support.pages import ROOT, tables

DOCS = ROOT / "docs"
_STYLE = """<style>
text { font: 14px sans-serif; fill: #24292f }
.own { fill: #1a7f6b } .other { fill: #9aa4ae } .again { fill: #d98e04 }
@media (prefers-color-scheme: dark) { text { fill: #e6edf3 } }
</style>"""
# Name, and the parts of the time from `start_date` to the start of the run.
_TIME = (
    ("covered before", [("own", 0.0, 0.3), ("own", 0.45, 0.9)]),
    ("read now: what is missing", [("again", 0.3, 0.45), ("again", 0.9, 1.0)]),
    ("read now: the lookback", [("again", 0.8, 0.9)]),
    ("read now: recheck_days", [("again", 0.15, 0.2)]),
    ("covered after", [("own", 0.0, 1.0)]),
)


def speed() -> str:
    """Return a chart of the first table of the page about speed."""
    rows = tables((DOCS / "speed.md").read_text(encoding="utf-8"))[0]
    most = max(float(row["Seconds"]) for row in rows)
    drawn = []
    for row in rows:
        name, seconds = row["Client"].replace("`", ""), row["Seconds"]
        kind = "own" if name.startswith("this tap") else "other"
        drawn.append((f"{name}: {seconds} s", [(kind, 0.0, float(seconds) / most)]))
    return _bars(drawn, left=480)


def time() -> str:
    """Return a drawing of what a run reads after an earlier one was interrupted."""
    scale = f'<text x="230" y="{len(_TIME) * 28 + 16}">start_date</text>'
    scale += f'<text x="640" y="{len(_TIME) * 28 + 16}">start of the run</text>'
    return _bars(_TIME, left=230, below=scale)


def _bars(
    rows: Iterable[tuple[str, list[tuple[str, float, float]]]],
    left: int,
    below: str = "",
) -> str:
    """Draw a row for each name, with its bars from one part of the width to another."""
    parts, top, width = [], 0, 740 - left
    for name, bars in rows:
        parts.append(f'<text x="4" y="{top + 18}">{escape(name)}</text>')
        for kind, begin, end in bars:
            x, long = left + begin * width, (end - begin) * width
            place = f'x="{x:.0f}" y="{top + 4}" width="{long:.0f}" height="18"'
            parts.append(f'<rect class="{kind}" {place} rx="3"/>')
        top += 28
    size = f'width="760" height="{top + 28 * bool(below)}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size}>'
    return "\n".join([head, _STYLE, *parts, below, "</svg>\n"])


if __name__ == "__main__":
    (DOCS / "speed.svg").write_text(speed(), encoding="utf-8")
    (DOCS / "time.svg").write_text(time(), encoding="utf-8")
