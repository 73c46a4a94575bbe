"""Draws `docs/speed.svg` from the table of its page, and `docs/time.svg`.

`uv run --group charts python -m tests.support.drawings` draws both.
"""

from collections.abc import Mapping
from io import StringIO

from matplotlib import rcParams
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tests.support.pages import ROOT, tables

DOCS = ROOT / "docs"
# These colours are visible on white and on black.
_OWN, _OTHER, _AGAIN = "#1a9e86", "#8c959f", "#c98200"
# Only the text follows the theme of the reader.
_THEMES = (
    "text {fill: #24292f} @media (prefers-color-scheme: dark) {text {fill: #e6edf3}}"
)
# Name, and the parts of the time from `start_date` to the start of the run. Small gaps
# separate the windows.
_TIME = (
    ("covered before", _OWN, [(0.0, 0.3), (0.45, 0.9)]),
    (
        "read now: what is missing, in windows",
        _AGAIN,
        [(0.3, 0.348), (0.352, 0.398), (0.402, 0.45), (0.9, 1.0)],
    ),
    ("read now: the lookback", _AGAIN, [(0.8, 0.9)]),
    ("read now: recheck_days", _AGAIN, [(0.15, 0.2)]),
    ("covered after", _OWN, [(0.0, 1.0)]),
)

# In inches. The font of the reader may be wider than the one that is measured here.
rcParams["figure.constrained_layout.w_pad"] = 0.15
rcParams["font.sans-serif"] = ["DejaVu Sans"]
rcParams["svg.fonttype"] = "none"  # text remains text
rcParams["svg.hashsalt"] = "tap-leadintent"  # the same picture each time


def speed(seconds: Mapping[str, float]) -> str:
    """Return a chart of the seconds that each client took, the fastest at the top."""
    figure, axes = _empty(height=3.4)
    sorted_seconds = sorted(seconds.items(), key=lambda item: item[1])
    names = [name.replace("`", "") for name, _ in sorted_seconds]
    values = [value for _, value in sorted_seconds]
    colours = [_colour(name) for name in names]
    bars = axes.barh(range(len(names)), values, 0.45, color=colours)
    axes.bar_label(bars, [f"{value:.1f} s" for value in values], padding=4)
    # Names are above the bars, as beside them they would leave little space.
    for row, name in enumerate(names):
        axes.text(0, row - 0.33, name)
    axes.set_axis_off()
    return _svg(figure)


def _colour(client: str) -> str:
    if "both ranges" in client:
        return _AGAIN
    return _OWN if client.startswith("this tap") else _OTHER


def time() -> str:
    """Return a drawing of what a run reads after an earlier one was interrupted."""
    figure, axes = _empty(height=2.1)
    for row, (_, colour, parts) in enumerate(_TIME):
        widths = [(begin, end - begin) for begin, end in parts]
        axes.broken_barh(widths, (row - 0.35, 0.7), color=colour, linewidth=0)
    axes.set_yticks(range(len(_TIME)), [name for name, _, _ in _TIME])
    axes.set_xticks([0, 1], ["start_date", "start of the run"])
    return _svg(figure)


def _empty(height: float) -> tuple[Figure, Axes]:
    figure = Figure((7.5, height), layout="constrained")
    axes = figure.subplots()
    axes.invert_yaxis()  # the first row is at the top
    axes.set_frame_on(False)
    axes.tick_params(length=0)
    return figure, axes


def _svg(figure: Figure) -> str:
    # The metadata would name the date and the version of the library.
    metadata = dict.fromkeys(("Creator", "Date", "Format", "Type"))
    picture = StringIO()
    figure.savefig(picture, format="svg", transparent=True, metadata=metadata)
    return picture.getvalue().replace("<style", f"<style>{_THEMES}</style>\n  <style")


if __name__ == "__main__":
    table = tables((DOCS / "speed.md").read_text(encoding="utf-8"))[0]
    measured = {row["Client"]: float(row["Seconds"]) for row in table}
    (DOCS / "speed.svg").write_text(speed(measured), encoding="utf-8")
    (DOCS / "time.svg").write_text(time(), encoding="utf-8")
