"""A set of questions by its name or its path."""

from pathlib import Path

from variorum.lab.questions.faults import refuse_dataset
from variorum.lab.questions.own import load_own
from variorum.lab.questions.published import (
    is_chunking_evaluation,
    load_chunking_evaluation,
    load_squad,
)
from variorum.lab.questions.records import Dataset
from variorum.lab.questions.versioned import is_versioned, load_versioned
from variorum.records.errors import InputError, NotFoundError


def load_questions(named: str, revisions: Path | None = None) -> Dataset:
    """The set that `named` is: a folder of `chunking_evaluation`, a SQuAD file, a user's own JSON
    Lines, or `versioned-en` and `versioned-zh`, whose texts are in the file of `revisions`.

    Raises:
        InputError: kind `bad-questions`, or `needs-revisions` for a versioned set without a file.
        NotFoundError: there is nothing at that path.
    """
    if is_versioned(named):
        return load_versioned(named, _required(named, revisions))
    path = Path(named)
    if not path.exists():
        raise NotFoundError(
            f"there is no set of questions at {named}",
            kind="no-such-questions",
            subject=named,
            expected="a folder or a file, or versioned-en, versioned-zh",
            found="nothing",
            remedy="check the path",
        )
    if is_chunking_evaluation(path):
        return load_chunking_evaluation(path)
    if path.name.removesuffix(".gz").endswith(".json"):
        return load_squad(path)
    if path.suffix != ".jsonl":
        refuse_dataset(path, "chunking_evaluation's folder, a .json(.gz) or a .jsonl", path.name)
    return load_own(path)


def _required(named: str, revisions: Path | None) -> Path:
    if revisions is None:
        raise InputError(
            f"{named} has labels alone; the texts are in a file of revisions",
            kind="needs-revisions",
            subject=named,
            expected="--revisions FILE",
            found="none",
            remedy="give the file of revision pairs that the labels are about",
        )
    return revisions
