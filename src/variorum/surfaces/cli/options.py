"""Options that every command has, and the index that they open."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any, TypeVar

import click
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from variorum.chunking import chunker_from_spec, over_the_limit
from variorum.door.index import Index, open_index
from variorum.door.several import open_each
from variorum.records.errors import NotFoundError
from variorum.records.protocols import Progress as Report
from variorum.surfaces.cli.output import console, print_wrapped, progress_fits

F = TypeVar("F", bound=Callable[..., Any])
QUIET_FOR_S = 1.0


@dataclass(frozen=True, slots=True)
class Common:
    """What was asked of every command."""

    as_json: bool
    quiet: bool
    store: str | None
    config: str | None
    collection: str | None
    model: str | None = None
    acting_as: str | None = None

    @contextmanager
    def index(self) -> Iterator[Index]:
        """The index that the options name."""
        index = open_index(
            store=self.store,
            config=self.config,
            collection=self.collection,
            model=self.model,
            principal=self.acting_as,
        )
        with index:
            yield index

    @contextmanager
    def each(self) -> Iterator[list[Index]]:
        """An index of the collection that the options name, or of every configured one."""
        with ExitStack() as stack:
            yield [
                stack.enter_context(index)
                for index in open_each(
                    store=self.store,
                    config=self.config,
                    collection=self.collection,
                    model=self.model,
                )
            ]

    @contextmanager
    def progress(self) -> Iterator[Report]:
        """A progress bar on stderr for what takes longer than a second, on a terminal alone."""
        if self.quiet or not progress_fits():
            yield lambda stage, done, total: None
            return
        with _Bar() as bar:
            yield bar.report

    def note_limit(self, index: Index, chunker: str | None = None) -> None:
        """Say on stderr where chunks will be smaller than `chunker` (or the configured) asks."""
        spec = index.collection.chunker if chunker is None else chunker
        note = over_the_limit(chunker_from_spec(spec), index.embedder)
        if note and not self.quiet:
            print_wrapped(console(stderr=True), note, "Note: ")


class _Bar:
    """One bar a stage, shown once the work has taken a second."""

    def __init__(self) -> None:
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
        )
        self._progress = Progress(*columns, console=console(stderr=True), transient=True)
        self._started_at = monotonic()
        self._tasks: dict[str, Any] = {}
        self._shown = False

    def __enter__(self) -> "_Bar":
        return self

    def __exit__(self, *_: object) -> None:
        if self._shown:
            self._progress.stop()

    def report(self, stage: str, done: int, total: int | None) -> None:
        """Move the stage's bar."""
        if not self._shown and monotonic() - self._started_at < QUIET_FOR_S:
            return
        if not self._shown:
            self._progress.start()
            self._shown = True
        if stage not in self._tasks:
            self._tasks[stage] = self._progress.add_task(stage, total=total)
        self._progress.update(self._tasks[stage], completed=done, total=total)


def require_current_folder() -> None:
    """Refuse to go on in a folder that was deleted.

    Raises:
        NotFoundError: the current folder is not there any more.
    """
    try:
        Path.cwd()
    except FileNotFoundError as error:
        raise NotFoundError(
            "the current folder is gone",
            kind="no-current-folder",
            expected="a folder to work in",
            found="one that was deleted",
            remedy="change to a folder that is there",
        ) from error


def with_options(
    command: F, wrapper: Callable[..., Any], options: Sequence[Callable[[Any], Any]]
) -> F:
    """`wrapper` in the place of `command`, which takes `options` before the command's own."""
    wrapper.__name__ = command.__name__
    wrapper.__doc__ = command.__doc__
    wrapper.__click_params__ = getattr(command, "__click_params__", [])  # type: ignore[attr-defined]
    for option in reversed(options):
        wrapper = option(wrapper)
    return wrapper  # type: ignore[return-value]


def common_options(command: F) -> F:
    """Add the options of every command; the command takes them as `common`."""

    def with_common(**values: Any) -> Any:
        require_current_folder()
        names = ("as_json", "quiet", "store", "config", "collection", "model", "acting_as")
        common = {name: values.pop(name) for name in names if name in values}
        return command(common=Common(**common), **values)

    return with_options(command, with_common, _OPTIONS)


_OPTIONS = (
    click.option(
        "--json", "as_json", is_flag=True, help="One JSON object on stdout; errors are one too."
    ),
    click.option(
        "--store", metavar="PATH", help="The store's folder [default: .variorum, or as configured]."
    ),
    click.option(
        "--config", metavar="FILE", help="The configuration [default: variorum.toml if it is here]."
    ),
    click.option("--collection", metavar="NAME", help="Which collection, where there are several."),
    click.option("--model", metavar="SPEC", help="The model [default: as configured]."),
    click.option("-q", "--quiet", is_flag=True, help="No progress bar and no notes."),
)

principal_option = click.option(
    "--principal", "acting_as", metavar="WHO", help="Read as another, such as user:ann,group:staff."
)
effective_option = click.option(
    "--effective", metavar="DATE", help="What is in force at DATE, or any [default: now]."
)
