"""Reading what a view holds."""

from variorum.formats import decode
from variorum.records.text import Revision, Text
from variorum.store.view import View


def text_of(view: View, revision_id: int, content_type: str) -> Text:
    """The decoded text of a stored revision."""
    return decode(Revision(view.content(revision_id), content_type))
