"""Which documents of a generation a search may look at."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from pathspec import GitIgnoreSpec

from variorum.records.arguments import metadata, words
from variorum.records.errors import InputError
from variorum.sources.naming import KNOWN
from variorum.store.manifests import ManifestRow
from variorum.store.view import View

Wanted = str | int | float | bool
"""What a metadata value is compared with."""


@dataclass(frozen=True, slots=True)
class Filter:
    """Path patterns (as in .gitignore), a content type ("markdown" or "text/markdown"), metadata.

    A document passes where every part that is given agrees.
    """

    path: str | None = None
    content_type: str | None = None
    where: Mapping[str, Wanted] = field(default_factory=dict)

    @classmethod
    def of(cls, path: object, content_type: object, where: object) -> "Filter":
        """The filter that a caller asks for, each part None where it is not given.

        Raises:
            InputError: a part is not of its type, or empty.
        """
        return cls(
            None if path is None else words("path", path),
            None if content_type is None else words("content_type", content_type),
            {} if where is None else metadata("where", where),
        )

    @property
    def passes_all(self) -> bool:
        """Whether nothing is asked for."""
        return not (self.path or self.content_type or self.where)

    def documents(self, view: View) -> set[int]:
        """The manifest rows that pass.

        Raises:
            InputError: a pattern that cannot be read, a metadata key that no document of the
                generation has, or a content type that nothing has or could have.
        """
        rows = view.documents
        self._require_known_keys(rows)
        self._require_known_type({row.content_type for row in rows.values()})
        spec = _path_spec(self.path) if self.path else None
        return {
            identifier
            for identifier, row in rows.items()
            if (spec is None or spec.match_file(row.document.path.decode("utf-8", "replace")))
            and self._right_type(row)
            and self._right_fields(row)
        }

    def _right_type(self, row: ManifestRow) -> bool:
        return self.content_type is None or _is_of_type(row.content_type, self.content_type)

    def _right_fields(self, row: ManifestRow) -> bool:
        fields = row.fields
        return all(key in fields and _equal(fields[key], self.where[key]) for key in self.where)

    def _require_known_type(self, present: Collection[str]) -> None:
        wanted = self.content_type
        if wanted is None or any(_is_of_type(one, wanted) for one in KNOWN.union(present)):
            return
        raise InputError(
            f"there is no content type {wanted!r}",
            kind="unknown-content-type",
            subject=wanted,
            expected=f"one of: {', '.join(sorted(present or KNOWN))}",
            found=wanted,
            remedy="name a content type, such as text/markdown, or its last part, such as markdown",
        )

    def _require_known_keys(self, rows: Mapping[int, ManifestRow]) -> None:
        if not self.where:
            return
        known = sorted({key for row in rows.values() for key in row.fields})
        for key in self.where:
            if key not in known:
                raise InputError(
                    f"no document has metadata named {key!r}",
                    kind="unknown-metadata-key",
                    subject=key,
                    expected=f"one of: {', '.join(known) or '(no document has any)'}",
                    found=key,
                    remedy="check the spelling of --where KEY=VALUE",
                )


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


def _is_of_type(content_type: str, wanted: str) -> bool:
    return wanted in (content_type, content_type.rsplit("/", maxsplit=1)[-1])


def _equal(value: object, wanted: Wanted) -> bool:
    """Whether a stored value is the wanted one; a string is compared with how a value is written.

    True and false are no numbers, and 1 is 1.0.
    """
    if isinstance(wanted, str):
        return value == wanted if isinstance(value, str) else _is_written(value, wanted)
    if isinstance(wanted, bool) or isinstance(value, bool):
        return value is wanted
    return isinstance(value, int | float) and value == wanted


_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?([eE][+-]?\d{1,3})?", re.ASCII)


def _is_written(value: object, text: str) -> bool:
    """Whether `text` writes a stored number or boolean."""
    if isinstance(value, bool):
        return text == str(value).lower()
    if len(text) > 400 or not _NUMBER.fullmatch(text):
        return False
    return value == (float(text) if isinstance(value, float) else Decimal(text))
