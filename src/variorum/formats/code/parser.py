"""Source code to blocks, by its syntax tree."""

from typing import Final

from variorum.formats.code.blocks import blocks_of
from variorum.formats.code.grammars import BY_CONTENT_TYPE, Grammar, language_of
from variorum.formats.code.outline import Outline, outline_of
from variorum.formats.code.source import Source
from variorum.formats.code.trees import Meter, NotParsedError, tree_of
from variorum.formats.plain import parse_plain
from variorum.records.text import Span, Structure, Text

NAME: Final = "code"


def parse_code(text: Text, content_type: str) -> Structure:
    """The structure of a program in one of the types of `BY_CONTENT_TYPE`, total on any text.

    Where there is no tree to go by, the structure is that of plain text and `fallback` says why:
    the grammar is not installed; the file is too large, or took the parser too many steps; it is
    nested too deep; or half of its filled lines or more hold errors. Fewer errors are read past:
    their lines are CODE.
    """
    grammars = BY_CONTENT_TYPE[content_type]
    name = grammars[0].name
    try:
        source = Source(text)
        outline = _best_outline(source, grammars)
        return _structure(text, source, outline)
    except ImportError:
        package = grammars[0].package
        return parse_plain(text, f"not parsed as {name}: pip install tree-sitter {package}")
    except NotParsedError as error:
        return parse_plain(text, f"not parsed as {name}: {error}")
    # Whatever the parser trips over, the document is still cut and found, as plain text.
    except Exception as error:
        why = f"{type(error).__name__}: {error}"[:200]
        return parse_plain(text, f"not parsed as {name}: {why}")


def _best_outline(source: Source, grammars: tuple[Grammar, ...]) -> Outline:
    """The outline with the fewest broken rows; later grammars are tried only where there are some.

    Raises:
        NotParsedError: half of the filled rows or more are broken in each, or there is no tree.
    """
    best: Outline | None = None
    for grammar in grammars:
        language = language_of(grammar.package, grammar.entry)
        tree = tree_of(source.content, language, Meter(len(source.content)))
        outline = outline_of(tree, source, grammar)
        if best is None or outline.broken_rows < best.broken_rows:
            best = outline
        if not best.broken_rows:
            break
    filled = sum(source.filled)
    if best is None or 2 * best.broken_rows >= max(filled, 1):
        broken = best.broken_rows if best else filled
        raise NotParsedError(f"errors on {broken} of {filled} lines")
    return best


def _structure(text: Text, source: Source, outline: Outline) -> Structure:
    blocks = blocks_of(text.characters, source, outline)
    ends = source.positions(place for pair in outline.imports for place in pair)
    imports = tuple(Span(start, end) for start, end in zip(ends[::2], ends[1::2], strict=True))
    return Structure(blocks, NAME, imports=imports)
