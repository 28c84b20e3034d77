"""Plots as SVG elements: text stays text, and the same numbers give the same bytes."""

import io
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from variorum.records.errors import UnsupportedError

COLOURS = (
    "#0b6e99",
    "#d1495b",
    "#2e8b57",
    "#8d5fd3",
    "#c77d0a",
    "#5c6b73",
    "#b5179e",
    "#3a5a40",
    "#6c4a20",
    "#1d3557",
)
"""One a series, told apart in print and by the colour-blind together with the markers."""

_MARKERS = "os^Dvp*hX<"
_STYLE: Any = {
    "svg.fonttype": "none",
    "svg.hashsalt": "variorum",
    "font.family": "sans-serif",
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.25,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
}
_WIDTH = 5.6


@dataclass(frozen=True, slots=True)
class Bar:
    """A value with an interval, or with none where both ends equal it."""

    value: float
    low: float
    high: float


Points = Sequence[tuple[float, float]]


@contextmanager
def _figure(height: float) -> Iterator[tuple[Any, Any, list[str]]]:
    """(figure, axes, where the SVG goes)."""
    try:
        import matplotlib
    except ImportError as error:
        raise UnsupportedError(
            "the report's plots need matplotlib",
            kind="no-plots",
            subject="matplotlib",
            expected="the extra `report`",
            found="no matplotlib",
            remedy="pip install 'variorum[report]'",
        ) from error
    from matplotlib.figure import Figure

    with matplotlib.rc_context(_STYLE):
        figure = Figure(figsize=(_WIDTH, height), layout="constrained")
        axes = figure.subplots()
        found: list[str] = []
        yield figure, axes, found
        stream = io.StringIO()
        figure.savefig(stream, format="svg", metadata={"Date": None, "Creator": None})
        found.append(inline(stream.getvalue()))


def inline(svg: str) -> str:
    """The element alone, as wide as its place allows."""
    element = svg[svg.index("<svg") :]
    element = re.sub(r'(<svg[^>]*?) width="[^"]*"', r"\1", element, count=1)
    element = re.sub(r'(<svg[^>]*?) height="[^"]*"', r'\1 role="img"', element, count=1)
    return element.strip()


_BINS = (0.0, 0.1, 0.5, 2.0, 5.0, 20.0, 50.0, 100.0)
"""Percent at which the means of a scatter's lines begin and end."""


MOST_POINTS = 120
"""Faint points that a scatter draws of a series: each takes 150 bytes of the page."""


def thinned(points: Points) -> Points:
    """At most `MOST_POINTS` of them, evenly spread along x."""
    ordered = sorted(points)
    count = min(MOST_POINTS, len(ordered))
    return [ordered[number * len(ordered) // count] for number in range(count)]


def scatter(series: Mapping[str, Points], x: str, y: str) -> str:
    """Faint points of several series over percents in powers of ten; a line through bins' means."""
    with _figure(4.6) as (figure, axes, found):
        for number, (name, points) in enumerate(series.items()):
            colour, marker = COLOURS[number % len(COLOURS)], _MARKERS[number % len(_MARKERS)]
            shown = thinned(points)
            places, values = zip(*shown, strict=True) if shown else ((), ())
            axes.plot(places, values, ".", color=colour, markersize=3, alpha=0.25)
            middles = binned(points)
            axes.plot(
                [place for place, _ in middles],
                [value for _, value in middles],
                f"{marker}-",
                color=colour,
                markersize=5,
                label=name,
            )
        axes.set_xscale("symlog", linthresh=0.1)
        axes.xaxis.set_major_formatter("{x:g}")
        _finish(figure, axes, x, y)
    return found[0]


def binned(points: Points) -> list[tuple[float, float]]:
    """The mean place and value of the points in each bin that has any."""
    found = []
    for low, high in pairwise(_BINS):
        inside = [one for one in points if low <= one[0] < high or one[0] == high == _BINS[-1]]
        if inside:
            found.append(tuple(sum(side) / len(inside) for side in zip(*inside, strict=True)))
    return [(place, value) for place, value in found]


def sized(series: Mapping[str, tuple[float, Bar]], x: str, y: str) -> str:
    """One point a series at its size, with its interval."""
    with _figure(4.2) as (figure, axes, found):
        for number, (name, (place, bar)) in enumerate(series.items()):
            axes.errorbar(
                [place],
                [bar.value],
                yerr=_ends([bar]),
                fmt=_MARKERS[number % len(_MARKERS)],
                color=COLOURS[number % len(COLOURS)],
                markersize=7,
                capsize=3,
                label=name,
            )
        axes.set_ylim(bottom=0)
        _finish(figure, axes, x, y)
    return found[0]


def lines(series: Mapping[str, Sequence[tuple[str, Bar]]], y: str) -> str:
    """One line a series over named places, with intervals."""
    with _figure(4.2) as (figure, axes, found):
        for number, (name, points) in enumerate(series.items()):
            shift = 0.04 * (number - (len(series) - 1) / 2)
            axes.errorbar(
                [place + shift for place in range(len(points))],
                [bar.value for _, bar in points],
                yerr=_ends([one for _, one in points]),
                fmt=f"{_MARKERS[number % len(_MARKERS)]}-",
                color=COLOURS[number % len(COLOURS)],
                capsize=2,
                label=name,
            )
            axes.set_xticks(range(len(points)), [place for place, _ in points])
        axes.set_ylim(bottom=0)
        _finish(figure, axes, "", y)
    return found[0]


def curves(series: Mapping[str, Sequence[tuple[Bar, Bar]]], x: str, y: str) -> str:
    """One curve a series through points that have an interval in both directions."""
    with _figure(4.8) as (figure, axes, found):
        for number, (name, points) in enumerate(series.items()):
            axes.errorbar(
                [one.value for one, _ in points],
                [one.value for _, one in points],
                xerr=_ends([one for one, _ in points]),
                yerr=_ends([one for _, one in points]),
                fmt=f"{_MARKERS[number % len(_MARKERS)]}-",
                color=COLOURS[number % len(COLOURS)],
                elinewidth=0.6,
                label=name,
            )
        _finish(figure, axes, x, y)
    return found[0]


def _ends(bars: Sequence[Bar]) -> list[list[float]]:
    """How far each interval reaches below and above its value."""
    return [[one.value - one.low for one in bars], [one.high - one.value for one in bars]]


def forest(rows: Mapping[str, tuple[Bar, Bar, Sequence[float]]], x: str) -> str:
    """A mean with two intervals a row (thick: documents, thin: repositories), over its points."""
    with _figure(1.1 + 0.62 * len(rows)) as (figure, axes, found):
        for number, (bar, wide, points) in enumerate(rows.values()):
            colour = COLOURS[number % len(COLOURS)]
            ordered = sorted(points)
            heights = [number + 0.16 + 0.18 * (place % 3) / 2 for place in range(len(ordered))]
            axes.plot(ordered, heights, ".", color=colour, alpha=0.35, markersize=4)
            axes.plot([wide.low, wide.high], [number, number], "-", color=colour, linewidth=1.5)
            axes.plot([bar.low, bar.high], [number, number], "-", color=colour, linewidth=5)
            axes.plot([bar.value], [number], "o", color="black", markersize=5)
        axes.axvline(0, color="black", linewidth=1)
        axes.set_yticks(range(len(rows)), list(rows))
        axes.invert_yaxis()
        axes.set_xlabel(x)
        _spared(figure)
    return found[0]


def heat(
    columns: Sequence[str], rows: Sequence[str], values: Sequence[Sequence[float]], x: str, y: str
) -> str:
    """A map of values, each printed in its cell."""
    with _figure(1.0 + 0.55 * len(rows)) as (figure, axes, found):
        axes.grid(visible=False)
        highest = max(max(row) for row in values)
        axes.imshow(values, cmap="Blues", aspect="auto", vmin=0, vmax=1.6 * highest)
        axes.set_xticks(range(len(columns)), columns)
        axes.set_yticks(range(len(rows)), rows)
        for line, row in enumerate(values):
            for place, value in enumerate(row):
                axes.text(place, line, f"{value:.0f}", ha="center", va="center")
        axes.set_xlabel(x)
        axes.set_ylabel(y)
        _spared(figure)
    return found[0]


def _finish(figure: Any, axes: Any, x: str, y: str) -> None:
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    figure.legend(loc="outside lower center", ncols=2, frameon=False, fontsize=9)
    _spared(figure)


def _spared(figure: Any) -> None:
    """No background of its own, so that it stands on a dark page as on a light one."""
    figure.patch.set_alpha(0)
