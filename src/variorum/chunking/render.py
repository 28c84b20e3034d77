"""From a chunk to its embedding input (invariant 2)."""

HEADING_SEPARATOR = " > "


def fold_line_ends(characters: str) -> str:
    """CR LF and lone CR as LF."""
    if "\r" not in characters:
        return characters
    return characters.replace("\r\n", "\n").replace("\r", "\n")


def heading_prefix(heading_depth: int, heading_path: tuple[str, ...]) -> str:
    """The innermost `heading_depth` titles, outermost first, and a blank line; or nothing.

    A title is folded as the text is; a blank one is left out.
    """
    titles = heading_path[-heading_depth:] if heading_depth > 0 else ()
    named = [fold_line_ends(title).strip() for title in titles if title.strip()]
    return HEADING_SEPARATOR.join(named) + "\n\n" if named else ""


def render(prefix: str, characters: str) -> str:
    """The exact input of a chunk: its prefix as it is, then its characters.

    The characters lose outer white space and have line ends folded to LF, nothing else. What is
    rendered is what is counted, hashed and sent.
    """
    return prefix + fold_line_ends(characters).strip()
