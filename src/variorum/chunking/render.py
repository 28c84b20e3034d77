"""From a chunk to its embedding input (invariant 2)."""

HEADING_SEPARATOR = " > "


def fold_line_ends(characters: str) -> str:
    """CR LF and lone CR as LF."""
    if "\r" not in characters:
        return characters
    return characters.replace("\r\n", "\n").replace("\r", "\n")


def heading_prefix(heading_depth: int, heading_path: tuple[str, ...]) -> str:
    """The innermost `heading_depth` titles on a line of their own, and a blank line; or nothing."""
    named = [title for title in heading_path if title.strip()]
    titles = named[-heading_depth:] if heading_depth > 0 else []
    return HEADING_SEPARATOR.join(titles) + "\n\n" if titles else ""


def render(heading_depth: int, heading_path: tuple[str, ...], characters: str) -> str:
    """The exact input of a chunk: its heading prefix, then its characters.

    The characters lose outer white space and have line ends folded to LF, nothing else. What is
    rendered is what is counted, hashed and sent.
    """
    prefix = heading_prefix(heading_depth, heading_path)
    return prefix + fold_line_ends(characters).strip()
