"""The names that a policy grants to: `everyone`, `user:NAME` and `group:NAME`."""

import re
import unicodedata

from variorum.records.errors import InputError

EVERYONE = "everyone"
"""Every verified principal of the tenant."""

_READER = re.compile(r"(?:user|group):[^\s,](?:[^,]*[^\s,])?")


def parse_reader(text: str) -> str:
    """The reader in its one spelling: composed Unicode, nothing folded.

    Raises:
        InputError: `text` is neither `everyone` nor `user:NAME` or `group:NAME`.
    """
    reader = unicodedata.normalize("NFC", text)
    if reader == EVERYONE or (_READER.fullmatch(reader) and reader.isprintable()):
        return reader
    raise InputError(
        f"{text!r} is not a reader",
        kind="bad-reader",
        subject=text,
        expected="everyone, user:NAME or group:NAME, without commas",
        found=repr(text),
        remedy="write the kind, a colon and the name",
    )
