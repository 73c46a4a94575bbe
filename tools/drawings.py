"""Draws `docs/speed.svg` from the table of its page, and `docs/time.svg`.

`uv run --group charts python -m tools.drawings` draws both.
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
# A lead, where it lies on each axis, and how it is read. What is recent has more space.
_LEADS = (
    ("found today,\nwith a signal of today", 0.96, 0.96, "read by both"),
    ("found today,\nwith a signal of last month", 0.96, 0.4, "read by date_found"),
    ("found a year ago,\nwith a signal of today", 0.1, 0.96, "read by latest_signal"),
    (
        "found five days ago, but\nin the API only since today",
        *(0.62, 0.62, "read within 10 days"),
    ),
)
_NEW, _AGE = 0.9, 0.2
"""Where the band begins that an hourly run reads, and the one that runs read again."""

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
    return _svg(figure, "The seconds that each client took")


def _colour(client: str) -> str:
    if "both ranges" in client:
        return _AGAIN
    return _OWN if client.startswith("this tap") else _OTHER


def time() -> str:
    """Return a drawing of what an hourly run reads of four leads, by both ranges."""
    figure = Figure((7.5, 3.3), layout="constrained")
    both = figure.subplots(1, 2, sharey=True)
    for axes, name, column in zip(
        both, ("date_found", "latest_signal"), (1, 2), strict=True
    ):
        axes.axvspan(_AGE, _NEW, facecolor=_AGAIN, alpha=0.3, linewidth=0)
        axes.axvspan(_NEW, 1, facecolor=_OWN, alpha=0.4, linewidth=0)
        for row, lead in enumerate(_LEADS):
            axes.axhline(row, color=_OTHER, linewidth=0.5)
            place = float(lead[column])
            colour = _OWN if place > _NEW else _OTHER
            axes.plot(place, row, "o", color=colour, markersize=9)
        axes.set_title(name, loc="left", fontsize=11, fontfamily="monospace")
        axes.set_xticks([_AGE, 0.95], ["85 days ago", "now"])
        axes.set(xlim=(0, 1), ylim=(len(_LEADS) - 0.5, -0.5), frame_on=False)
        axes.tick_params(length=0)
    both[0].set_yticks(range(len(_LEADS)), [lead[0] for lead in _LEADS])
    for row, lead in enumerate(_LEADS):
        both[1].text(1.04, row, lead[3], va="center")
    legend = "green: read by this hourly run; yellow: read again by later runs"
    figure.supxlabel(legend, fontsize=10)
    return _svg(figure, "Four leads on two time axes, and what an hourly run reads")


def _empty(height: float) -> tuple[Figure, Axes]:
    figure = Figure((7.5, height), layout="constrained")
    axes = figure.subplots()
    axes.invert_yaxis()  # the first row is at the top
    axes.set_frame_on(False)
    axes.tick_params(length=0)
    return figure, axes


def _svg(figure: Figure, title: str) -> str:
    # The metadata would name the date and the version of the library.
    metadata = dict.fromkeys(("Creator", "Date", "Format", "Type"))
    picture = StringIO()
    figure.savefig(picture, format="svg", transparent=True, metadata=metadata)
    svg = picture.getvalue().replace("<svg ", '<svg role="img" ', 1)
    return svg.replace(
        "<defs>", f"<title>{title}</title>\n <defs>\n  <style>{_THEMES}</style>", 1
    )


if __name__ == "__main__":
    table = tables((DOCS / "speed.md").read_text(encoding="utf-8"))[0]
    measured = {row["Client"]: float(row["Seconds"]) for row in table}
    (DOCS / "speed.svg").write_text(speed(measured), encoding="utf-8")
    (DOCS / "time.svg").write_text(time(), encoding="utf-8")
