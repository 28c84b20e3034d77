"""HTML without a network: a page, its sections, its tables. Every word from outside is escaped."""

import re
from collections.abc import Iterable, Sequence
from html import escape

STYLE = """
:root{color-scheme:light dark;--line:#8884;--soft:#8881;--new:#e8a33d55;--ink:inherit}
*{box-sizing:border-box}
body{margin:0 auto;max-width:64rem;padding:1rem;line-height:1.5;
 font-family:system-ui,"Noto Sans","Noto Sans CJK SC","PingFang SC","Microsoft YaHei",sans-serif}
h1{font-size:1.6rem;line-height:1.2}h2{margin-top:2.5rem;border-top:1px solid var(--line);
 padding-top:1rem;font-size:1.25rem}h3{font-size:1.05rem;margin-top:1.6rem}
.lead{font-size:1.1rem}.note,figcaption,.small{font-size:.86rem;opacity:.8}
figure{margin:1rem 0}figure svg{width:100%;max-width:46rem;height:auto}
@media(prefers-color-scheme:dark){figure svg{filter:invert(1) hue-rotate(180deg)}}
.wide{overflow-x:auto;margin:.6rem 0}table{border-collapse:collapse;font-size:.86rem;width:100%}
caption{text-align:left;font-weight:600;padding:.3rem 0}
th,td{padding:.25rem .6rem .25rem 0;text-align:right;border-bottom:1px solid var(--line);
 vertical-align:top;white-space:nowrap}
th:first-child,td:first-child{text-align:left;white-space:normal;min-width:9rem;
 overflow-wrap:anywhere}td.words,th.words{text-align:left}
td.long,.long td{white-space:normal;overflow-wrap:anywhere}td.long{min-width:12rem}
.wide{background:linear-gradient(90deg,Canvas 30%,#0000) local,
 linear-gradient(270deg,Canvas 30%,#0000) 100% 0 local,
 radial-gradient(farthest-side at 0 50%,#0005,#0000),
 radial-gradient(farthest-side at 100% 50%,#0005,#0000) 100% 0;background-repeat:no-repeat;
 background-size:2.5rem 100%,2.5rem 100%,.8rem 100%,.8rem 100%;
 background-attachment:local,local,scroll,scroll}
details{margin:.6rem 0}summary{cursor:pointer}
.sides{display:grid;grid-template-columns:1fr 1fr;gap:.5rem;font-size:.82rem}
.chunk{border:1px solid var(--line);border-radius:.3rem;padding:.4rem;white-space:pre-wrap;
 overflow-wrap:anywhere;min-width:0}.chunk.embedded{background:var(--new)}
.chunk.none{border-style:dashed;opacity:.4}.fold{grid-column:1/-1;text-align:center;
 background:var(--soft);padding:.2rem;border-radius:.3rem}
.meta{display:block;font-size:.75rem;opacity:.75;margin-bottom:.2rem;white-space:normal}
code{font-size:.92em;overflow-wrap:anywhere}
@media(max-width:34rem){body{padding:.7rem}.sides{font-size:.74rem;gap:.3rem}
 table{font-size:.74rem}th,td{padding-right:.4rem}th:first-child,td:first-child{min-width:7.4rem}}
@media print{body{max-width:none;font-size:10pt}.wide{overflow:visible;background:none}
 table{font-size:7.5pt}th,td{white-space:normal}figure,.chunk,tr{break-inside:avoid}
 .sides{font-size:7.5pt}details{display:block}details::details-content{content-visibility:visible;block-size:auto}
 figure svg{max-height:11cm}h2,h3,caption,thead,summary{break-after:avoid}.screen{display:none}}
"""


def page(title: str, body: Iterable[str]) -> str:
    """A whole document that loads nothing."""
    inside = "\n".join(body)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        f"{inside}\n</body>\n</html>\n"
    )


def heading(level: int, words: str) -> str:
    """A heading."""
    return f"<h{level}>{escape(words)}</h{level}>"


def paragraph(words: str, kind: str = "") -> str:
    """A paragraph of plain words."""
    return f"<p{f' class={kind!r}' if kind else ''}>{escape(words)}</p>"


def figure(svg: str, caption: str) -> str:
    """A plot with what it shows in words."""
    return f"<figure>{svg}<figcaption>{escape(caption)}</figcaption></figure>"


def table(
    caption: str, columns: Sequence[str], rows: Iterable[Sequence[str]], *, words: bool = False
) -> str:
    """A table that scrolls on its own where it is wider than the page; numbers to the right.

    With `words`, every cell is words; else those of a column that holds more than numbers.
    """
    lines = [list(row) for row in rows]
    texts = [
        words or any(not _NUMBER.fullmatch(row[place]) for row in lines)
        for place in range(len(columns))
    ]
    head = _row("th scope=col", columns, texts)
    body = "".join(_row("td", row, texts) for row in lines)
    named = f"<caption>{escape(caption)}</caption>" if caption else ""
    wide = "wide long" if words else "wide"
    inside = f"{named}<thead>{head}</thead><tbody>{body}</tbody>"
    return f'<div class="{wide}"><table>{inside}</table></div>'


_MOST_ON_A_LINE = 40
_NUMBER = re.compile(r"NA|[-+−]?[\d.,]+( ?%)?([-–/][-−]?[\d.,]+)?|")
"""A count, a share, an interval, a fraction, or nothing."""


def _row(tag: str, cells: Sequence[str], texts: Sequence[bool]) -> str:
    end = tag.partition(" ")[0]
    inside = (
        f"<{tag}{_kind(cell) if is_text else ''}>{escape(cell)}</{end}>"
        for cell, is_text in zip(cells, texts, strict=True)
    )
    return f"<tr>{''.join(inside)}</tr>"


def _kind(cell: str) -> str:
    return ' class="words long"' if len(cell) > _MOST_ON_A_LINE else " class=words"


def details(
    summary: str, inside: Iterable[str], *, opened: bool = False, printed: bool = True
) -> str:
    """What opens and closes on a click; in print it is open, or not there at all."""
    shown = f"<summary>{escape(summary)}</summary>{''.join(inside)}"
    kind = "" if printed else " class=screen"
    return f"<details{kind}{' open' if opened else ''}>{shown}</details>"


def chunk(words: str | None, meta: str, language: str, *, embedded: bool = False) -> str:
    """One chunk of a side, or an empty place."""
    if words is None:
        return '<div class="chunk none"></div>'
    kind = "chunk embedded" if embedded else "chunk"
    shown = f'<span class="meta">{escape(meta)}</span>{escape(words)}'
    return f'<div class="{kind}" lang="{escape(language)}">{shown}</div>'


def folded(words: str) -> str:
    """A line in place of chunks that stay."""
    return f'<div class="fold">{escape(words)}</div>'


def sides(inside: Iterable[str]) -> str:
    """Old chunks on the left, new ones on the right."""
    return f'<div class="sides">{"".join(inside)}</div>'
