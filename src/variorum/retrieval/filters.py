"""Which documents of a generation a search may look at."""

import re
from collections.abc import Collection, Hashable, Iterable
from dataclasses import dataclass
from difflib import get_close_matches

from pathspec import GitIgnoreSpec

from variorum.records.arguments import words
from variorum.records.errors import InputError
from variorum.retrieval.conditions import Condition, conditions
from variorum.sources.naming import KNOWN
from variorum.store.fields import Column
from variorum.store.view import View

LANGUAGE_KEYS = ("lang", "language")
"""The metadata under which a document says what language it is in."""
MAX_TOLD = 12
"""Most names of keys that an error lists."""


@dataclass(frozen=True, slots=True)
class Filter:
    """Path patterns (as in .gitignore), a content type ("markdown" or "text/markdown"), metadata,
    a language, and since when a document stands as it does, in microseconds since 1970.

    A document passes where every part that is given agrees.
    """

    path: str | None = None
    content_type: str | None = None
    where: tuple[Condition, ...] = ()
    language: str | None = None
    changed_since_us: int | None = None

    @classmethod
    def of(
        cls,
        path: object,
        content_type: object,
        where: object,
        language: object = None,
        changed_since_us: int | None = None,
    ) -> "Filter":
        """The filter that a caller asks for, each part None where it is not given.

        Raises:
            InputError: a part is not of its type, or empty.
        """
        return cls(
            None if path is None else words("path", path),
            None if content_type is None else words("content_type", content_type),
            conditions(where),
            None if language is None else words("language", language),
            changed_since_us,
        )

    @property
    def passes_all(self) -> bool:
        """Whether nothing is asked for."""
        return self == Filter()

    @property
    def key(self) -> Hashable:
        """Equal for equal filters alone: to Python the conditions for 1 and for True are equal."""
        return self, tuple(type(one.value) for one in self.where)

    def documents(self, view: View) -> set[int]:
        """The manifest rows that pass.

        Raises:
            InputError: a pattern that cannot be read; a metadata key or a language that no document
                of the generation has, or an order of what has none; or a content type that nothing
                has or could have.
        """
        passing = set(view.documents)
        if self.where:
            passing = passing.intersection(*(_rows(view, one) for one in self.where))
        if self.language is not None:
            passing &= _in_language(view, self.language)
        if self.content_type is not None:
            passing &= _of_type(view, self.content_type)
        if self.path is not None:
            passing &= _at_path(view, self.path, passing)
        if self.changed_since_us is not None:
            passing &= view.changed_since(self.changed_since_us)
        return passing


def _rows(view: View, condition: Condition) -> set[int]:
    column = view.fields.columns.get(condition.key)
    if column is None:
        raise _unknown_key(condition.key, view.fields.columns)
    return condition.rows(column)


def _unknown_key(key: str, known: Iterable[str]) -> InputError:
    names = sorted(known)
    near = get_close_matches(key, names, cutoff=0.5)
    told = [*near, *(name for name in names if name not in near)]
    more = ", …" if len(told) > MAX_TOLD else ""
    listed = ", ".join(told[:MAX_TOLD]) + more
    return InputError(
        f"no document has metadata named {key!r}",
        kind="unknown-metadata-key",
        subject=key,
        expected=f"one of: {listed or '(no document has any)'}",
        found=key,
        remedy=f"write {near[0]!r}?" if near else "check the spelling of --where KEY=VALUE",
    )


def _in_language(view: View, wanted: str) -> set[int]:
    """The rows that declare a language, or one that it includes: `zh` includes `zh-Hant`."""
    columns = view.fields.columns
    declared: dict[str, set[int]] = {}
    for key in LANGUAGE_KEYS:
        for word, rows in columns.get(key, Column(())).words.items():
            for tag in word.split(","):
                declared.setdefault(_tag(tag), set()).update(rows)
    tag = _tag(wanted)
    found = [rows for one, rows in declared.items() if f"{one}-".startswith(f"{tag}-")]
    if not found:
        raise InputError(
            f"no document says that it is in the language {wanted!r}",
            kind="unknown-language",
            subject=wanted,
            expected=f"one of: {', '.join(sorted(declared)) or '(no document names any)'}",
            found=wanted,
            remedy=f"name it in the documents' metadata, as {LANGUAGE_KEYS[0]}: {wanted}",
        )
    return set().union(*found)


def _tag(written: str) -> str:
    return written.strip().replace("_", "-").casefold()


def _of_type(view: View, wanted: str) -> set[int]:
    rows = view.documents
    _require_known_type(wanted, {row.content_type for row in rows.values()})
    return {key for key, row in rows.items() if _is_of_type(row.content_type, wanted)}


def _require_known_type(wanted: str, present: Collection[str]) -> None:
    if any(_is_of_type(one, wanted) for one in KNOWN.union(present)):
        return
    raise InputError(
        f"there is no content type {wanted!r}",
        kind="unknown-content-type",
        subject=wanted,
        expected=f"one of: {', '.join(sorted(present or KNOWN))}",
        found=wanted,
        remedy="name a content type, such as text/markdown, or its last part, such as markdown",
    )


def _is_of_type(content_type: str, wanted: str) -> bool:
    return wanted in (content_type, content_type.rsplit("/", maxsplit=1)[-1])


def _at_path(view: View, pattern: str, rows: Iterable[int]) -> set[int]:
    spec, documents = _path_spec(pattern), view.documents
    return {
        row
        for row in rows
        if spec.match_file(documents[row].document.path.decode("utf-8", "replace"))
    }


def _path_spec(pattern: str) -> GitIgnoreSpec:
    try:
        spec = GitIgnoreSpec.from_lines([pattern])
    except (ValueError, re.error) as error:
        raise _bad_pattern(pattern, str(error)) from error
    # Lines that git passes over (a "[" without "]", a comment), or that only take back ("!a.md").
    if not any(one.include for one in spec.patterns):
        raise _bad_pattern(pattern, "a line that matches nothing")
    return spec


def _bad_pattern(pattern: str, why: str) -> InputError:
    return InputError(
        f"{pattern!r} is not a path pattern",
        kind="bad-parameter",
        subject="path",
        expected="a pattern as in .gitignore, such as guide/**/*.md; a bracket itself is \\[",
        found=f"{pattern}: {why}",
        remedy="correct the pattern given to --path",
    )
