"""Texts that break chunkers, for Hypothesis."""

from hypothesis import strategies as st

from variorum.records.text import Block, BlockKind, Span, Structure

FRAGMENTS = [
    "\n",
    "\n\n",
    "\r\n",
    "\r\n\r\n",
    "\r",
    "\r\r",
    " ",
    "   ",
    "\t",
    "\x0b",
    "\x0c",
    "\x85",
    "\u2028",
    "\u2029",
    "\ufeff",
    "\x00",
    "\x1c",
    "\u200b",
    "\u200d",
    "\u0301",
    "\u00a0",
    "\u3000",
    "word ",
    "another word, ",
    "A sentence stands here. ",
    "Really? ",
    "Yes! ",
    ".",
    "!",
    "?",
    "...",
    "e.g. ",
    "1. first\n",
    "- item\n",
    "  - inner item\n",
    "。",
    "！",
    "？」",
    "中文段落在这里。",
    "第二句！",
    "“引用。”",
    "雨が降った。",
    "한국어 문장. ",
    "👨‍👩‍👧‍👦",
    "👍🏾",
    "🇫🇷",
    "🇩🇪🇫🇷",
    "e\u0301",
    "a\u0301\u0302\u0303",
    "שלום עולם. ",
    "مرحبا؟ ",
    "สวัสดีครับ",
    "กำลังน้ำ",
    "क्षि",
    "```\ncode line\n\nx = 1\n```\n",
    "```\n",
    "| a | b |\n|---|---|\n| 1 | 2 |\n",
    "| row | x |\n",
    "# Heading\n",
    "## Sub heading\n",
    "###### Deep\n\n",
    "x" * 40,
    "z" * 200,
    "=" * 60,
    "字" * 50,
    "https://example.org/a/b?c=d ",
]

fragments = st.sampled_from(FRAGMENTS) | st.text(max_size=8)
texts = st.lists(fragments, max_size=40).map("".join) | st.text(max_size=60)


@st.composite
def edits(draw: st.DrawFn) -> tuple[str, str]:
    """A text, and the same with a few ranges replaced or moved in, or its line ends changed."""
    old = "".join(draw(st.lists(fragments, min_size=1, max_size=60)))
    new = old
    for _ in range(draw(st.integers(0, 3))):
        start = draw(st.integers(0, len(new)))
        end = min(len(new), start + draw(st.integers(0, 40)))
        source = draw(st.integers(0, len(old)))
        moved = old[source : source + draw(st.integers(0, 80))]
        new = new[:start] + draw(fragments) + moved + new[end:]
    if draw(st.integers(0, 5)) == 0:
        new = new.replace("\r\n", "\n")
    return old, new


@st.composite
def structured(draw: st.DrawFn) -> tuple[str, Structure]:
    """A text and ordered blocks anywhere in it, some of them repeating a range before them."""
    text = draw(texts)
    ends = draw(st.lists(st.integers(0, len(text)), max_size=12).map(sorted))
    blocks: list[Block] = []
    for start, end in zip(ends[::2], ends[1::2], strict=False):
        kind = draw(st.sampled_from(BlockKind))
        path = tuple(draw(st.lists(st.sampled_from(["A", "B b", ""]), max_size=2)))
        repeats = None
        if blocks and draw(st.booleans()):
            repeats = Span(blocks[-1].start, draw(st.integers(blocks[-1].start, start)))
        depth = draw(st.integers(1, 6)) if kind is BlockKind.HEADING else 0
        blocks.append(Block(start, end, kind, path, depth, repeats))
    return text, Structure(tuple(blocks), parser="random")
