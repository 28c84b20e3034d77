"""`lab report`: one HTML file, without a network, of everything that runs wrote into a folder."""

from collections.abc import Iterator
from pathlib import Path

from variorum.lab import pages, sections
from variorum.lab.record import write_into
from variorum.lab.written import Folder, written

_SHOWN = ("means", "sizes", "bands", "position", "overlap", "strategies", "documents", "failures")


def report(folder: Path, file: Path, *, with_text: bool = True) -> int:
    """Write the report of a folder to `file`; how many runs it holds.

    Without `with_text`, no text of a document is in it: figures, names and hashes alone.

    Raises:
        NotFoundError: no run has written a table there.
        DamagedError: a table is not the one that its record names.
        UnsupportedError: the plots need a library that is not installed.
    """
    runs = written(folder)
    body = [piece for one in runs for piece in _run(one, with_text=with_text, alone=len(runs) == 1)]
    write_into(file, pages.page(f"Variorum: {folder.name}", body).encode())
    return len(runs)


def _run(folder: Folder, *, with_text: bool, alone: bool) -> Iterator[str]:
    title = "What edits cost" if alone else f"What edits cost: {folder.path.name}"
    yield pages.heading(1, title)
    words = " ".join(sections.lead(folder))
    yield pages.paragraph(words or "Tables of a run of the lab.", "lead")
    yield from sections.replay_section(folder)
    yield from sections.means_section(folder)
    yield from sections.difference_section(folder)
    yield from sections.band_section(folder)
    yield from sections.edit_size_section(folder)
    yield from sections.size_section(folder)
    yield from sections.frontier_section(folder)
    yield from sections.position_section(folder)
    yield from sections.overlap_section(folder)
    yield from sections.worst_section(folder, with_text=with_text)
    yield from sections.failure_section(folder)
    yield pages.heading(2, "Other tables")
    yield pages.paragraph("On the screen alone; all are files beside this one.", "note")
    yield from sections.other_section(folder, _SHOWN)
    yield from sections.run_section(folder)
