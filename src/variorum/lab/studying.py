"""What every study needs: its file read, its specs measured, its controls checked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from variorum.lab.comparison import Document, check_controls
from variorum.lab.histories import History
from variorum.lab.pool import Results, measure_all
from variorum.lab.record import Run, file_sha256
from variorum.lab.subjects import subjects
from variorum.lab.trial import Settings
from variorum.records.protocols import Progress


@dataclass(frozen=True, slots=True)
class Setup:
    """How a study runs: what counts, where results go, who is told, on how many cores."""

    settings: Settings
    folder: Path
    progress: Progress
    command: str
    workers: int | None = None

    def measured(
        self, histories: Sequence[History], specs: Sequence[str]
    ) -> tuple[list[Document], Results]:
        """Every history under every spec, after the controls.

        Raises:
            InputError: kind `no-edit-control`, or an unknown chunker.
        """
        names = [one.spec for one in subjects(specs)]
        results = measure_all(
            histories, names, self.settings, self.folder, self.progress, self.workers
        )
        documents = [Document(*pair) for pair in zip(histories, results.measured, strict=True)]
        check_controls(documents, names)
        return documents, results

    def run(self, file: Path, specs: Sequence[str], study: Mapping[str, object]) -> Run:
        """The record of a study of one file."""
        recipes = {one.spec: one.recipe for one in subjects(specs)}
        settings = {**self.settings.as_fields(), **study}
        return Run(self.command, {file.name: file_sha256(file)}, settings, recipes)
