"""The parts of a report: each takes a run's folder and gives HTML, or nothing where it has none."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from variorum.lab import pages, plots
from variorum.lab.plots import Bar
from variorum.lab.subjects import label
from variorum.lab.written import Folder, Row, Written

LANGUAGES = {"en": "English", "zh": "Chinese"}
_SHOWN_ROWS = 60
_IS_SPEC = re.compile(r"[a-z_-]+\([^()]*\)(\+planner)?")


def named(language: str) -> str:
    """A language in words."""
    return LANGUAGES.get(language, language)


def brief(spec: str) -> str:
    """A chunker's label; another cell as it is."""
    return label(spec) if _IS_SPEC.fullmatch(spec) else spec


def share(cell: str) -> str:
    """A share as it stands in a table, in percent."""
    return "NA" if cell == "NA" else f"{100 * float(cell):.1f}"


def bar(row: Row) -> Bar:
    """A row's mean and interval in percent."""
    mean = 100 * float(row["mean"])
    low, high = (100 * float(row[name]) if row[name] != "NA" else mean for name in ("low", "high"))
    return Bar(mean, low, high)


def chosen(table: Written | None, **wanted: str) -> list[Row]:
    """The rows with these values that have a mean."""
    rows = table.rows if table else ()
    return [
        row
        for row in rows
        if all(row[key] == value for key, value in wanted.items()) and row.get("mean") != "NA"
    ]


def groups(table: Written | None) -> list[tuple[str, str]]:
    """(set, language) pairs in order."""
    return list(dict.fromkeys((row["set"], row["language"]) for row in table.rows)) if table else []


def lead(folder: Folder) -> Iterator[str]:
    """What came out, in plain words."""
    means = folder.tables.get("means")
    for name, language in groups(means):
        rows = chosen(means, set=name, language=language, pool="all", measure="recompute_fraction")
        if not rows:
            continue
        ordered = sorted(rows, key=lambda row: float(row["mean"]))
        best, worst = ordered[0], ordered[-1]
        kind = "documents" if "strategies" in folder.tables else name.partition(" ")[0]
        yield (
            f"{named(language)}, {best['documents']} {kind}: after an edit, "
            f"{brief(worst['chunker'])} embeds {share(worst['mean'])} % of a document again on "
            f"average, {brief(best['chunker'])} {share(best['mean'])} %."
        )
        yield from _floor_words(means, name, language, best["chunker"])
    if "strategies" in folder.tables:
        yield _replay_words(folder.tables["strategies"])


def _floor_words(means: Written | None, name: str, language: str, spec: str) -> Iterator[str]:
    for row in chosen(
        means, set=name, language=language, pool="all", chunker=spec, measure="floor"
    ):
        yield (
            f"Given the chunks that were there before, no way to cut could have done with less than"
            f" {share(row['mean'])} %."
        )


def _replay_words(table: Written) -> str:
    rows = sorted(table.rows, key=lambda row: int(row["recomputed"]))
    best, most = rows[0], rows[-1]
    return (
        f"Over this history {best['edits']} edits took {int(best['recomputed']):,} tokens with "
        f"{brief(best['chunker'])}, {int(most['recomputed']):,} with {brief(most['chunker'])}, and "
        f"would have taken {int(best['full']):,} with every changed document embedded whole."
    )


_MEASURES = ("recompute_fraction", "floor", "excess_over_floor", "embedded_fraction", "waste_ratio")
_HEADS = (
    "chunker",
    "n",
    "size",
    "R %",
    "95 %",
    "by repository",
    "floor",
    "excess",
    "ever",
    "waste",
)


def means_section(folder: Folder) -> Iterator[str]:
    """A table of means for every set and language."""
    means, sizes = folder.tables.get("means"), folder.tables.get("sizes")
    if means is None:
        return
    yield pages.heading(2, "What an edit embeds again")
    lengths = {
        (row["set"], row["language"], row["chunker"]): row["mean_tokens"]
        for row in (sizes.rows if sizes else ())
    }
    for name, language in groups(means):
        rows = [row for row in means.rows if (row["set"], row["language"]) == (name, language)]
        found: dict[str, dict[str, Row]] = defaultdict(dict)
        for row in rows:
            if row["pool"] == "all":
                found[row["chunker"]][row["measure"]] = row
        lines = [
            _means_line(spec, lengths.get((name, language, spec), "NA"), measures)
            for spec, measures in found.items()
        ]
        yield pages.table(f"{name}, {named(language)}", _HEADS, lines)
    yield pages.paragraph(
        "R: share of a new version's tokens whose complete input the version before did not have."
        " Size: mean content tokens of a chunk; compare rows of about equal size. Floor: the least"
        " R that the old chunks allow. Ever: R against everything embedded before. Waste: share of"
        " the embedded tokens that no edit touched.",
        "note",
    )


def _means_line(spec: str, size: str, measures: Mapping[str, Row]) -> list[str]:
    row = measures["recompute_fraction"]
    interval = f"{share(row['low'])}–{share(row['high'])}"
    wide = f"{share(row['low_by_repository'])}–{share(row['high_by_repository'])}"
    length = "NA" if size == "NA" else f"{float(size):.0f}"
    others = [share(measures[name]["mean"]) for name in _MEASURES[1:]]
    return [
        brief(spec),
        f"{row['succeeded']}/{row['all']}",
        length,
        share(row["mean"]),
        interval,
        wide,
        *others,
    ]


def edit_size_section(folder: Folder) -> Iterator[str]:
    """Each document's R against the size of its edit."""
    grouped: dict[str, dict[str, list[tuple[float, float]]]] = {}
    for row in folder.audit:
        if row["excluded"]:
            continue
        series = grouped.setdefault(f"{row['set']}, {named(row['language'])}", {})
        fractions = [100 * float(Fraction(one["fraction"])) for one in row["edits"]]
        for spec, found in row["chunkers"].items():
            points = series.setdefault(brief(spec), [])
            for fraction, step in zip(fractions, found["steps"], strict=False):
                points.append((fraction, 100 * step["recomputed"] / max(1, step["total"])))
    if grouped:
        yield pages.heading(2, "Recomputation against the size of the edit")
    for name, series in grouped.items():
        svg = plots.scatter(series, "atoms edited, % (a proxy)", "recomputed, %")
        caption = (
            f"{name}: a faint point a revision, {plots.MOST_POINTS} a chunker where there are more;"
            " lines through the means of all edits alike."
        )
        yield pages.figure(svg, caption)


def size_section(folder: Folder) -> Iterator[str]:
    """Mean R against mean size, with intervals."""
    means, sizes = folder.tables.get("means"), folder.tables.get("sizes")
    if means is None or sizes is None:
        return
    yield pages.heading(2, "Recomputation against the size of chunks")
    lengths = {
        (row["set"], row["language"], row["chunker"]): row["mean_tokens"] for row in sizes.rows
    }
    for name, language in groups(means):
        rows = chosen(means, set=name, language=language, pool="all", measure="recompute_fraction")
        series = {
            brief(row["chunker"]): (float(lengths[name, language, row["chunker"]]), bar(row))
            for row in rows
        }
        if series:
            svg = plots.sized(series, "mean content tokens of a chunk", "recomputed, %")
            yield pages.figure(svg, f"{name}, {named(language)}: means with 95 % intervals.")


def difference_section(folder: Folder) -> Iterator[str]:
    """Each chunker less the first one, document by document."""
    table = folder.tables.get("differences")
    if table is None or not table.rows:
        return
    yield pages.heading(2, "Differences of documents")
    base = table.rows[0]["less"]
    for name, language in groups(table):
        rows = chosen(table, set=name, language=language, measure="recompute_fraction", less=base)
        forest = {}
        for row in rows:
            wide = Bar(
                bar(row).value,
                100 * float(row["low_by_repository"]),
                100 * float(row["high_by_repository"]),
            )
            points = _document_differences(folder, name, language, row["chunker"], base)
            forest[brief(row["chunker"])] = (bar(row), wide, points)
        if forest:
            svg = plots.forest(forest, f"points of R less {brief(base)}")
            yield pages.figure(
                svg,
                f"{name}, {named(language)}: a dot a document; black the mean, thick its 95 % "
                "interval over documents, thin over repositories.",
            )


def _document_differences(
    folder: Folder, name: str, language: str, spec: str, base: str
) -> list[float]:
    found = []
    for row in folder.audit:
        if row["excluded"] or (row["set"], row["language"]) != (name, language):
            continue
        means = [_mean_of_steps(row["chunkers"].get(one)) for one in (spec, base)]
        if None not in means:
            found.append(100 * (means[0] - means[1]))  # type: ignore[operator]
    return found


def _mean_of_steps(found: Mapping[str, Any] | None) -> float | None:
    if not found or not found["steps"]:
        return None
    shares = [step["recomputed"] / max(1, step["total"]) for step in found["steps"]]
    return float(sum(shares)) / len(shares)


def band_section(folder: Folder) -> Iterator[str]:
    """R by band of edit size."""
    table = folder.tables.get("bands")
    if table is None or not table.rows:
        return
    yield pages.heading(2, "By size of edit")
    order = ("small", "medium", "large", "extreme", "natural")
    for name, language in groups(table):
        rows = [row for row in table.rows if (row["set"], row["language"]) == (name, language)]
        lines: dict[str, dict[str, str]] = defaultdict(dict)
        counts = {row["band"]: row["documents"] for row in rows}
        for row in rows:
            lines[brief(row["chunker"])][row["band"]] = share(row["mean"])
        heads = [f"{band} ({counts[band]})" for band in order if band in counts]
        cells = [
            [spec, *(line.get(band, "NA") for band in order if band in counts)]
            for spec, line in lines.items()
        ]
        yield pages.table(f"{name}, {named(language)}: R %", ("chunker", *heads), cells)
    yield pages.paragraph(
        "Small up to 5 % of atoms edited, medium 20 %, large 50 %; documents in brackets. Natural: "
        "the bands weighted as often as they occur in public histories.",
        "note",
    )


def frontier_section(folder: Folder) -> Iterator[str]:
    """Update cost against recall: up and to the left is better."""
    table = folder.tables.get("frontier")
    if table is None:
        return
    yield pages.heading(2, "The frontier: update cost against recall")
    measure = next(name for name in table.columns if "@" in name)
    for column in table.columns:
        name, _, language = column.rpartition("_")
        if name != "recompute_fraction":
            continue
        series: dict[str, list[tuple[Bar, Bar]]] = defaultdict(list)
        for row in sorted(table.rows, key=lambda row: float(row["mean_tokens"])):
            cost = _between(row, column, f"recompute_low_{language}", f"recompute_high_{language}")
            gain = _between(row, measure, "low", "high")
            if cost and gain:
                series[_family(row)].append((cost, gain))
        svg = plots.curves(series, f"recomputed, %, {named(language)}", f"{measure}, %")
        yield pages.figure(svg, "One curve a chunker over its sizes; up and to the left is better.")


def _between(row: Row, value: str, low: str, high: str) -> Bar | None:
    cells = [row[name] for name in (value, low, high)]
    return None if "NA" in cells else Bar(*(100 * float(cell) for cell in cells))


def _family(row: Row) -> str:
    planner = " + planner" if row["chunker"].endswith("+planner") else ""
    beside = "" if row["neighbours"] == "0" else f", {row['neighbours']} neighbour"
    return f"{row['chunker'].partition('(')[0]}{planner}{beside}"


def position_section(folder: Folder) -> Iterator[str]:
    """The insertion at three places."""
    table = folder.tables.get("position")
    if table is None:
        return
    yield pages.heading(2, "Where the edit is")
    for name, language in groups(table):
        series: dict[str, list[tuple[str, Bar]]] = defaultdict(list)
        for row in chosen(table, set=name, language=language):
            series[brief(row["chunker"])].append((row["position"], bar(row)))
        svg = plots.lines(series, "recomputed, %")
        yield pages.figure(svg, f"{name}, {named(language)}: one percent of new text put in.")


def overlap_section(folder: Folder) -> Iterator[str]:
    """The heat map of size and overlap."""
    table = folder.tables.get("overlap")
    if table is None:
        return
    yield pages.heading(2, "Size and overlap of fixed windows")
    for name, language in groups(table):
        rows = chosen(table, set=name, language=language)
        sizes = list(dict.fromkeys(row["size"] for row in rows))
        percents = list(dict.fromkeys(row["percent"] for row in rows))
        values = {(row["percent"], row["size"]): 100 * float(row["mean"]) for row in rows}
        cells = [[values[percent, size] for size in sizes] for percent in percents]
        svg = plots.heat(sizes, [f"{one} %" for one in percents], cells, "tokens", "shared")
        yield pages.figure(svg, f"{name}, {named(language)}: recomputed, %.")


def replay_section(folder: Folder) -> Iterator[str]:
    """Tokens and money of every strategy over a repository's history."""
    table = folder.tables.get("strategies")
    if table is None:
        return
    yield pages.heading(2, "What this history cost")
    heads = (
        "chunker",
        "edits",
        "all whole",
        "embedded",
        "%",
        "ever",
        "floor",
        "vectors",
        "USD/year",
    )
    lines = [
        [
            brief(row["chunker"]),
            *(_thousands(row[name]) for name in ("edits", "full", "recomputed")),
            share(row["update_to_full_ratio"]),
            *(_thousands(row[name]) for name in ("unseen", "floor", "vectors")),
            "NA" if row["usd_a_year"] == "NA" else f"{float(row['usd_a_year']):,.2f}",
        ]
        for row in table.rows
    ]
    yield pages.table(" ".join(table.notes), heads, lines)
    documents = folder.tables.get("documents")
    if documents is not None and documents.rows:
        first = documents.rows[0]["chunker"]
        shown = [row for row in documents.rows if row["chunker"] == first][:20]
        cells = [
            [row["document"], row["edits"], _thousands(row["recomputed"]), _thousands(row["full"])]
            for row in shown
        ]
        caption = f"Documents whose edits cost {brief(first)} most"
        yield pages.table(caption, ("document", "edits", "embedded", "all whole"), cells)


def _thousands(cell: str) -> str:
    return cell if cell == "NA" else f"{int(cell):,}"


def worst_section(folder: Folder, *, with_text: bool) -> Iterator[str]:
    """The costliest edits, old and new chunks side by side."""
    if not folder.worst:
        return
    yield pages.heading(2, "The edits that cost most beyond what they changed")
    opened: set[str] = set()
    for one in folder.worst:
        yield pages.heading(3, f"{one['document']} ({named(one['language'])})")
        yield pages.paragraph(
            f"{brief(one['chunker'])}, revision {one['revision']}: {one['recomputed']:,} of "
            f"{one['total']:,} tokens embedded, {one['edited']:,} of them edited "
            f"({100 * one['edit_fraction']:.1f} % of the atoms)."
        )
        if with_text:
            rows = list(one["rows"])
            inside = [piece for row in rows[:_SHOWN_ROWS] for piece in _pair(row, one["language"])]
            if len(rows) > _SHOWN_ROWS:
                inside.append(pages.folded(f"{len(rows) - _SHOWN_ROWS} more rows"))
            summary = "Old chunks left, new ones right; what was embedded is coloured"
            first = one["language"] not in opened
            opened.add(one["language"])
            yield pages.details(summary, [pages.sides(inside)], opened=first)


def _pair(row: Mapping[str, Any], language: str) -> list[str]:
    if row["kind"] == "folded":
        return [pages.folded(f"{row['count']} chunks stay")]
    old, new = row["old"], row["new"]
    return [
        pages.chunk(old and old["text"], _place(old), language),
        pages.chunk(new and new["text"], _place(new), language, embedded=row["embedded"]),
    ]


def _place(side: Mapping[str, Any] | None) -> str:
    return f"{side['start']}–{side['end']}, {side['tokens']} tokens" if side else ""


def failure_section(folder: Folder) -> Iterator[str]:
    """What has no numbers, and why."""
    table = folder.tables.get("failures")
    if table is None or not table.rows:
        return
    yield pages.heading(2, "What has no numbers, and why")
    heads = ("document", "chunker", "reason")
    rows = [[row["document"], brief(row["chunker"]), row["reason"]] for row in table.rows]
    yield pages.table("", heads, rows[:_SHOWN_ROWS], words=True)
    if len(rows) > _SHOWN_ROWS:
        yield pages.paragraph(f"{len(rows) - _SHOWN_ROWS} more are in failures.csv.", "note")


def other_section(folder: Folder, shown: Sequence[str]) -> Iterator[str]:
    """Every other table as it is."""
    rest = [one for name, one in folder.tables.items() if name not in shown]
    for one in rest:
        rows = [[brief(cell) for cell in row.values()] for row in one.rows[:_SHOWN_ROWS]]
        more = len(one.rows) - _SHOWN_ROWS
        tail = [pages.paragraph(f"{more} more rows in {one.name}.csv.", "note")] if more > 0 else []
        notes = [pages.paragraph(note, "note") for note in one.notes]
        inside = [pages.table("", one.columns, rows), *tail, *notes]
        yield pages.details(f"{one.title} ({one.name}.csv)", inside, printed=False)


def run_section(folder: Folder) -> Iterator[str]:
    """What made the tables, to be cited."""
    record = next(iter(folder.tables.values())).record
    yield pages.heading(2, "How to cite and repeat this run")
    rows = [
        ["run", str(record["run"])],
        ["command", str(record["command"])],
        *([f"input {name}", value] for name, value in record["inputs_sha256"].items()),
        *([brief(spec), recipe] for spec, recipe in record["recipes"].items()),
        *([f"version of {name}", value] for name, value in record["versions"].items()),
        *([f"setting {name}", str(value)] for name, value in record["settings"].items()),
        ["resamples, seed", f"{record['statistics']['resamples']}, {record['statistics']['seed']}"],
    ]
    yield pages.table("", ("", ""), rows, words=True)
