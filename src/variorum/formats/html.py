"""HTML to blocks that point into the source, by the parsing algorithm of the HTML standard.

The parser repairs what browsers repair and gives the source place of every start tag and text. A
block is a run of text that a reader would call one piece, with the markup around it: tags that open
go to the text after them, tags that close to the text before. So the blocks of a page cover its
source, and a block's range holds its words as they are written, entities and all.

What no reader sees (the head, comments, scripts, styles, templates, frames, drawings without text)
is an `OTHER` block where it stands between pieces, and so is what precedes the first tag. Inside a
piece it stays where it is, in a paragraph only up to `MAX_ASIDE` characters: a comment between two
words does not make two paragraphs.

A table of data is its head (a `thead`, or first rows of `th` alone) and its rows, each whole. A
table that holds headings or tables is layout, and its cells are containers like any other. Headings
inside a scope (a quote, an item, a cell, an aside and the like) name that scope only.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final, NamedTuple

from justhtml import JustHTML

from variorum.formats.leaves import Sections
from variorum.formats.pieces import Piece, first_filled, tiled
from variorum.formats.plain import parse_plain
from variorum.formats.titles import tidy_title
from variorum.records.text import BlockKind, Structure, Text

NAME: Final = "html"
MAX_ASIDE: Final = 256
"""Characters of comments and scripts, tags included, that a paragraph may hold."""

_HEADINGS: Final = {f"h{depth}": depth for depth in range(1, 7)}
_UNSEEN: Final = frozenset(
    {"head", "script", "style", "template", "iframe", "noembed", "noframes", "title", "#comment"}
)
_CODE: Final = frozenset({"pre", "listing", "xmp", "plaintext"})
_KINDS: Final = {
    "li": BlockKind.LIST_ITEM,
    "dt": BlockKind.DEFINITION,
    "dd": BlockKind.DEFINITION,
    "caption": BlockKind.PARAGRAPH,
    "th": BlockKind.PARAGRAPH,
    "td": BlockKind.PARAGRAPH,
    **dict.fromkeys(_CODE, BlockKind.CODE),
    **dict.fromkeys(_HEADINGS, BlockKind.HEADING),
}
_SCOPES: Final = frozenset(
    {"aside", "blockquote", "dd", "details", "dialog", "figure", "footer", "li", "nav", "td", "th"}
)
_FLOW: Final = frozenset(
    {"address", "article", "body", "center", "dir", "div", "dl", "fieldset", "figcaption", "form"}
    | {"header", "hgroup", "hr", "html", "legend", "main", "menu", "ol", "optgroup", "option", "p"}
    | {"search", "section", "summary", "table", "tbody", "tfoot", "thead", "tr", "ul"}
)
_BLOCKS: Final = _FLOW | _SCOPES | frozenset(_KINDS)
_METAS: Final = frozenset({"description", "author", "keywords"})
_MAX_METADATA: Final = 10_000


class _Table:
    """A table being read: where its head begins, and whether a row of data has been seen."""

    def __init__(self) -> None:
        self.head: int | None = None
        self.has_rows = False


class _Context(NamedTuple):
    """What text becomes here. In a `whole` piece nothing begins another one."""

    kind: BlockKind = BlockKind.PARAGRAPH
    depth: int = 0
    whole: bool = False
    table: _Table | None = None


class _Survey:
    """What must be known before the page is read: layout tables, drawings with text, metadata."""

    def __init__(self, root: Any) -> None:
        self.layout: set[int] = set()
        self.drawn: set[int] = set()
        self.metadata: dict[str, str] = {}
        self._tables: list[Any] = []
        self._drawings: list[Any] = []
        for node, entered in _walk(root):
            if entered:
                self._enter(node)
            elif node.name == "table":
                self._tables.pop()
            elif node.name == "svg":
                self._drawings.pop()

    def _enter(self, node: Any) -> None:
        name = node.name
        if name == "#text":
            if self._drawings and not node.data.isspace():
                self.drawn.update(id(drawing) for drawing in self._drawings)
                self._drawings = [None] * len(self._drawings)
        elif name == "table" or name in _HEADINGS:
            if self._tables:
                self.layout.add(id(self._tables[-1]))
            if name == "table":
                self._tables.append(node)
                if (node.attrs.get("role") or "").lower() in ("presentation", "none"):
                    self.layout.add(id(node))
        elif name == "svg":
            self._drawings.append(node)
        elif name in ("html", "title", "meta"):
            self._describe(node)

    def _describe(self, node: Any) -> None:
        if node.name == "html":
            key, value = "lang", node.attrs.get("lang") or node.attrs.get("xml:lang")
        elif node.name == "title":
            key = "" if self._drawings else "title"
            value = "".join(child.data for child in node.children or () if child.name == "#text")
        else:
            key, value = (node.attrs.get("name") or "").lower(), node.attrs.get("content")
            key = key if key in _METAS else ""
        value = tidy_title((value or "")[:_MAX_METADATA])
        if key and value:
            self.metadata.setdefault(key, value)


def _walk(root: Any) -> Iterator[tuple[Any, bool]]:
    """Every node below `root` in document order, on the way in and, if no text, on the way out."""
    stack = [(child, True) for child in reversed(root.children or ())]
    while stack:
        node, entered = stack.pop()
        yield node, entered
        if entered and node.name != "#text":
            stack.append((node, False))
            stack.extend((child, True) for child in reversed(node.children or ()))


def _title(heading: Any) -> str:
    """The words of a heading, without the sign that some generators link to the place itself."""
    parts = []
    for node, entered in _walk(heading):
        if not entered:
            continue
        if node.name == "#text" and node.parent.name not in _UNSEEN:
            parts.append(node.data)
        elif node.name == "img":
            parts.append(node.attrs.get("alt") or "")
        elif node.name == "br":
            parts.append(" ")
    return tidy_title("".join(parts)).removesuffix("¶").rstrip()


def _is_head_row(row: Any) -> bool:
    cells = [child.name for child in row.children or () if child.name in ("td", "th")]
    return bool(cells) and set(cells) == {"th"}


class _Reader:
    """Reads the tree in document order and notes where pieces begin.

    `_running` says that text goes on with the last piece. `_opener` is the first tag since the last
    text that may go to the next, `_aside` what no reader sees since then, with its path.
    """

    def __init__(self, characters: str, survey: _Survey, shift: int) -> None:
        self.pieces: list[Piece] = []
        self._characters = characters
        self._survey = survey
        self._shift = shift
        self._sections = Sections()
        self._contexts = [_Context()]
        self._scopes: list[list[tuple[int, str]]] = []
        self._running = False
        self._opener: int | None = None
        self._aside: Piece | None = None
        self._seen = -1
        self._unseen_depth = 0

    def read(self, root: Any) -> list[Piece]:
        """The pieces of the page, in the order of the tree."""
        for node, entered in _walk(root):
            unseen = node.name in _UNSEEN or self._is_blank_drawing(node)
            if unseen:
                self._unseen_depth += 1 if entered else -1
                if entered and self._unseen_depth == 1:
                    self._unseen(self._place(node))
            elif self._unseen_depth:
                self._locate_unseen(node)
            elif entered:
                self._enter(node)
            else:
                self._leave(node)
        self._end_aside()
        return self.pieces

    def _place(self, node: Any) -> int | None:
        offset = node.origin_offset
        return None if offset is None else offset + self._shift

    def _is_blank_drawing(self, node: Any) -> bool:
        return node.name == "svg" and id(node) not in self._survey.drawn

    def _locate_unseen(self, node: Any) -> None:
        # An implied head has no tag, so the first thing in it says where it is.
        if self._aside is None:
            self._unseen(self._place(node))

    def _enter(self, node: Any) -> None:
        name, place = node.name, self._place(node)
        if name == "#text":
            if not node.data.isspace() and node.data:
                self._text(first_filled(self._characters, place or 0, len(self._characters)))
            return
        if name in _BLOCKS and not self._contexts[-1].whole:
            self._end_run()
            self._open(place)
            self._enter_block(node)
        else:
            self._open(place)
            if name in _BLOCKS:
                self._contexts.append(self._contexts[-1])
            elif name == "img" and (node.attrs.get("alt") or "").strip() and place is not None:
                self._text(place)

    def _leave(self, node: Any) -> None:
        if node.name not in _BLOCKS:
            return
        left = self._contexts.pop()
        if self._contexts[-1].whole:
            return
        self._end_run()
        if node.name in _SCOPES and not left.whole:
            self._sections.reset(self._scopes.pop())

    def _enter_block(self, node: Any) -> None:
        name, context = node.name, self._contexts[-1]
        if name in _SCOPES:
            self._scopes.append(self._sections.mark())
        if name == "table":
            table = None if id(node) in self._survey.layout else _Table()
            context = context._replace(table=table)
        elif context.table and name in ("thead", "tr"):
            if not context.table.has_rows and (name == "thead" or _is_head_row(node)):
                context = context._replace(kind=BlockKind.TABLE, whole=True)
            elif name == "tr":
                context = context._replace(kind=BlockKind.ROW, whole=True)
        elif name in _KINDS:
            whole = name in _CODE or name in _HEADINGS
            context = _Context(_KINDS[name], _HEADINGS.get(name, 0), whole)
            if name in _HEADINGS:
                self._enter_section(node)
        self._contexts.append(context)

    def _enter_section(self, node: Any) -> None:
        title = _title(node)
        if title:
            self._end_aside()
            self._sections.enter(_HEADINGS[node.name], title)

    def _open(self, place: int | None) -> None:
        if self._opener is None and place is not None and place > self._seen:
            self._opener = place

    def _end_run(self) -> None:
        if self._running:
            self._running = False
            self._opener = None

    def _unseen(self, place: int | None) -> None:
        if place is None or self._aside is not None:
            return
        start = place
        if not self._running and self._opener is not None:
            start = self._opener
        self._aside = Piece(start, BlockKind.OTHER, self._sections.path)
        self._opener = None
        self._seen = max(self._seen, place)

    def _end_aside(self) -> None:
        if self._aside is not None:
            self.pieces.append(self._aside)
            self._aside = None

    def _text(self, place: int) -> None:
        context = self._contexts[-1]
        if self._running and self._aside is not None and not context.whole:
            self._running = place - self._aside.start <= MAX_ASIDE
        if not self._running:
            self._end_aside()
            self._begin(self._opener if self._opener is not None else place, context)
        self._running = True
        self._opener = self._aside = None
        self._seen = max(self._seen, place)

    def _begin(self, start: int, context: _Context) -> None:
        head = None
        if context.table and context.kind is BlockKind.TABLE:
            if self.pieces and self.pieces[-1].start == context.table.head:
                return  # one more row of the same head
            context.table.head = start
        elif context.table and context.kind is BlockKind.ROW:
            context.table.has_rows = True
            head = context.table.head
        path = self._sections.path
        self.pieces.append(Piece(start, context.kind, path, context.depth, head))


def parse_html(text: Text) -> Structure:
    """The structure of an HTML page, total on any text and linear.

    `metadata` holds the page's title, language, description, author and keywords, where given.
    """
    characters = text.characters
    # The parser takes a first U+FEFF for a byte-order mark and does not count it.
    shift = int(characters.startswith("\ufeff"))
    try:
        page = JustHTML(
            characters, sanitize=False, track_node_locations=True, scripting_enabled=False
        )
        survey = _Survey(page.root)
        pieces = _Reader(characters, survey, shift).read(page.root)
    # Whatever the parser trips over, the document is still cut and found, as plain text.
    except Exception as error:
        why = f"{type(error).__name__}: {error}"[:200]
        return replace(parse_plain(text), fallback=f"not parsed as HTML: {why}")
    return Structure(tiled(characters, pieces), NAME, survey.metadata)
