"""`lab recompute`: what every revision of a file of histories embeds again, chunker by chunker."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from variorum.lab.comparison import (
    Document,
    bands,
    check_controls,
    differences,
    failures,
    means,
    sizes,
)
from variorum.lab.histories import History, read_histories
from variorum.lab.imputation import sensitivity
from variorum.lab.peers import PEERS
from variorum.lab.pool import Results, measure_all
from variorum.lab.record import Run, Table, file_sha256, write_audit, write_json, write_table
from variorum.lab.subjects import Subject, subjects
from variorum.lab.trial import Settings
from variorum.lab.worst import WORST, worst
from variorum.records.protocols import Progress


@dataclass(frozen=True, slots=True)
class Study:
    """What was measured: the documents with their counts, and the tables over them."""

    run: Run
    specs: tuple[str, ...]
    documents: tuple[Document, ...]
    tables: tuple[Table, ...]
    results: Results

    def table(self, name: str) -> Table:
        """One of the tables."""
        return next(one for one in self.tables if one.name == name)


def recompute(
    file: Path,
    specs: Sequence[str],
    settings: Settings,
    folder: Path,
    progress: Progress,
    *,
    command: str,
    limit: int | None = None,
    workers: int | None = None,
) -> Study:
    """Measure every history of `file`, check the controls, and write tables and audit to `folder`.

    Raises:
        InputError: a chunker, a line of the file or a control is not sound.
        NotFoundError: there is no such file.
        UnsupportedError: the model is not to be had here.
    """
    chosen = subjects(specs)
    histories = read_histories(file, limit)
    names = [one.spec for one in chosen]
    results = measure_all(histories, names, settings, folder, progress, workers)
    run = study_run(command, {file.name: file_sha256(file)}, settings, chosen)
    study = compared(run, names, histories, results)
    write_study(folder, study, settings)
    return study


def study_run(
    command: str, inputs: Mapping[str, str], settings: Settings, chosen: Sequence[Subject]
) -> Run:
    """The record of a study."""
    names = {one.spec.partition("(")[0] for one in chosen}
    packages = tuple(sorted({PEERS[name].package for name in names if name in PEERS}))
    recipes = {one.spec: one.recipe for one in chosen}
    return Run(command, inputs, settings.as_fields(), recipes, packages)


def compared(
    run: Run, specs: Sequence[str], histories: Sequence[History], results: Results
) -> Study:
    """The tables over what was measured.

    Raises:
        InputError: kind `no-edit-control`.
    """
    documents = [Document(*pair) for pair in zip(histories, results.measured, strict=True)]
    check_controls(documents, specs)
    tables = [table(documents, specs) for table in (means, differences, bands, sizes)]
    tables += [sensitivity(documents, specs), failures(documents, specs)]
    return Study(run, tuple(specs), tuple(documents), tuple(tables), results)


def write_study(folder: Path, study: Study, settings: Settings) -> None:
    """Write every table with its record, the audit, the worst edits, and what the time went to."""
    for table in study.tables:
        write_table(folder, table, study.run)
    write_audit(folder, (audit_row(one, study.specs) for one in study.documents))
    write_json(folder / WORST, worst(study.documents, study.specs, settings))
    timing = {"cpu": study.results.spent.as_fields(), "measured_before": study.results.reused}
    write_json(folder / "timing.json", timing)


def audit_row(document: Document, specs: Sequence[str]) -> Mapping[str, Any]:
    """A document with every count of every chunker, or the reason that there is none."""
    history, found = document.history, document.measured
    return {
        "document": history.document,
        "set": document.set_name,
        "language": history.language,
        "repository": history.repository,
        "sha256": history.sha256,
        "excluded": found.excluded,
        "text_tokens": list(found.text_tokens),
        "edits": [
            {"fraction": one.edit.fraction, "band": one.edit.band, "tokens": one.edited_tokens}
            for one in found.edits
        ],
        "chunkers": {
            spec: {
                "failure": found.tried[spec].failure,
                "control": found.tried[spec].control,
                "steps": [step.as_fields() for step in found.tried[spec].steps],
            }
            for spec in (() if found.excluded else specs)
        },
    }
