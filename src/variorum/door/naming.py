"""What arguments name: documents, and sources that nobody configured, with what they are called."""

import hashlib
import os
import unicodedata
from dataclasses import replace
from pathlib import Path

from variorum.door.config import SourceConfig
from variorum.records.arguments import bad_parameter, words
from variorum.records.names import DocumentName, is_source_name, may_stand_in_source_name
from variorum.sources.git_place import PREFIX, git_place


def source_of_text(written: str, base: Path, store: Path) -> SourceConfig:
    """An unconfigured source: `git:REPOSITORY[@REVISION][:PATH]`, or a path, relative to `base`."""
    if not written.startswith(PREFIX):
        return source_of_path(base / written, store)
    place = git_place(written, lambda name: (base / name).is_dir())
    folder = source_of_path(base / place.repository, store)
    recorded = replace(place, repository=folder.recorded_root).recorded
    return replace(
        folder, kind="git", recorded_root=recorded, revision=place.revision, path=place.path
    )


def source_of_path(path: Path, store: Path) -> SourceConfig:
    """An unconfigured source: a folder or a .jsonl file named on the command line.

    Its name is that of the folder; the root that the store remembers is relative to the folder
    that holds the store where it lies inside, so that both can move together.
    """
    absolute = path.absolute()
    home = store.absolute().parent
    inside = absolute.resolve().is_relative_to(home.resolve())
    recorded = absolute.resolve().relative_to(home.resolve()) if inside else absolute.resolve()
    return SourceConfig(source_name_of(path), kind_of(path), absolute, str(recorded))


def kind_of(path: Path) -> str:
    """The kind of the source at `path`, by its suffix."""
    return "jsonl" if path.suffix in (".jsonl", ".ndjson") else "folder"


def source_name_of(path: Path) -> str:
    """The name of the source at `path`: that of its last part, as far as a name may be like it.

    What no name may hold becomes "-". Where nothing is left, the name is `documents-` and eight hex
    digits of the SHA-256 of the last part, so that two such folders have two names.
    """
    own = path.absolute().resolve().name
    fitting = (c if may_stand_in_source_name(c) else " " for c in unicodedata.normalize("NFC", own))
    name = "-".join("".join(fitting).split()).strip("-._")
    if is_source_name(name):
        return name
    return f"documents-{hashlib.sha256(os.fsencode(own)).hexdigest()[:8]}"


def named_document(name: str | DocumentName, argument: str = "explain") -> DocumentName:
    """The document that an argument names.

    Raises:
        InputError: it names none that could be.
    """
    if not isinstance(name, DocumentName):
        return DocumentName.parse(words(argument, name))
    if not name.is_printable:
        raise bad_parameter(argument, "a DocumentName of a source and a path", name)
    return name
