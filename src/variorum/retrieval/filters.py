"""Which documents of a generation a search may look at."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from pathspec import GitIgnoreSpec

from variorum.records.errors import InputError
from variorum.store.manifests import ManifestRow
from variorum.store.view import View


@dataclass(frozen=True, slots=True)
class Filter:
    """Path patterns (as in .gitignore), a content type ("markdown" or "text/markdown"), metadata.

    A document passes where every part that is given agrees.
    """

    path: str | None = None
    content_type: str | None = None
    where: Mapping[str, str] = field(default_factory=dict)

    @property
    def passes_all(self) -> bool:
        """Whether nothing is asked for."""
        return not (self.path or self.content_type or self.where)

    def documents(self, view: View) -> set[int]:
        """The manifest rows that pass.

        Raises:
            InputError: a pattern that cannot be read, or a metadata key that no document of the
                generation has.
        """
        rows = view.documents
        self._require_known_keys(rows)
        spec = _path_spec(self.path) if self.path else None
        return {
            identifier
            for identifier, row in rows.items()
            if (spec is None or spec.match_file(row.document.path.decode("utf-8", "replace")))
            and self._right_type(row)
            and self._right_fields(row)
        }

    def _right_type(self, row: ManifestRow) -> bool:
        wanted = self.content_type
        return wanted is None or wanted in (row.content_type, row.content_type.split("/")[-1])

    def _right_fields(self, row: ManifestRow) -> bool:
        fields = row.fields
        return all(
            key in fields and _printed(fields[key]) == value for key, value in self.where.items()
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
        return GitIgnoreSpec.from_lines([pattern])
    except (ValueError, re.error) as error:
        raise InputError(
            f"{pattern!r} is not a path pattern",
            kind="bad-parameter",
            subject="path",
            expected="a pattern as in .gitignore, such as guide/**/*.md",
            found=pattern,
            remedy="correct the pattern given to --path",
        ) from error


def _printed(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
