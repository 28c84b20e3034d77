"""Three cases under every chunker, on parsed text: what each owes, and what its rule rules out.

`fixed` and `fixed_characters` fill their windows, so each of their cuts is forced: the next token
or grapheme would be one too many. `content_defined` cuts where the fingerprint of words says so, as
the rule that it follows does, and knows neither lines nor sentences. To move a cut of theirs to a
row, a sentence or a definition would make another chunker of them: `structural` or `anchored`.
"""

from itertools import pairwise

import pytest

from unit.chunking.fakes import Atoms, FakeSizer, fake_embed, recipe
from variorum.chunking import lay_out
from variorum.formats import parse
from variorum.records.text import Text

READS_STRUCTURE = [
    "anchored(max_tokens={}, min_tokens=4)",
    "structural(max_tokens={}, min_tokens=4)",
]
READS_LINES = ["recursive(max_tokens={})", "recursive(max_tokens={}, rules=guide)"]
READS_SENTENCES = [*READS_STRUCTURE, *READS_LINES, "semantic(max_tokens={}, min_tokens=4)"]
DEFAULT_SEPARATORS = "recursive(max_tokens={}, rules=default)"
BY_COUNT = ["fixed(max_tokens={})", "fixed_characters(max_characters={})"]
BY_WORDS = [
    "content_defined(max_tokens={}, min_tokens=4)",
    "content_defined(max_tokens={}, min_tokens=4, words=segmented)",
]
EVERY = [*READS_SENTENCES, DEFAULT_SEPARATORS, *BY_COUNT, *BY_WORDS]

CODE = '# ünïcödé ✅ 漢字\ndef f():\n    return "é"\n\ndef g():\n    return 2\n'
SENTENCES = "雨が降った。道が光る。誰もいない！" * 40
HEAD = "| name | size | unit | kind |\n|---|---|---|---|\n"
ROWS = [f"| row {number} | {7 * number} | mm | part |\n" for number in range(60)]
CAPTION = "Table 1: the sizes.\n"
TABLE = f"{CAPTION}\n{HEAD}{''.join(ROWS)}\nafter\n"


def cut(text, spec, size, content_type):
    structure = parse(Text(text), content_type)
    layout = lay_out(text, structure, recipe(spec.format(size)), FakeSizer(), embed=fake_embed)
    chunks = layout.chunks
    assert "".join(text[chunk.start : chunk.end] for chunk in chunks) == text
    assert all(text[chunk.start : chunk.end].strip() for chunk in chunks)
    return layout


@pytest.mark.parametrize("spec", EVERY)
def test_COD_01_letters_of_several_bytes_move_no_slice(spec):
    layout = cut(CODE, spec, 14, "text/x-python")
    assert len(layout.chunks) > 1


@pytest.mark.parametrize("spec", [*READS_STRUCTURE, *READS_LINES, DEFAULT_SEPARATORS])
def test_COD_01_a_definition_starts_its_chunk_where_it_stands(spec):
    layout = cut(CODE, spec, 14, "text/x-python")
    assert CODE.index("def g") in [chunk.start for chunk in layout.chunks]


@pytest.mark.parametrize("spec", READS_SENTENCES)
def test_UNI_03_sentences_without_spaces_keep_their_marks(spec):
    layout = cut(SENTENCES, spec, 60, "text/plain")
    assert len(layout.chunks) > 10
    assert all(SENTENCES[chunk.end - 1] in "。！" for chunk in layout.chunks)


@pytest.mark.parametrize("spec", [DEFAULT_SEPARATORS, *BY_COUNT, *BY_WORDS])
def test_UNI_03_where_no_sentence_is_known_every_cut_is_forced(spec):
    layout = cut(SENTENCES, spec, 60, "text/plain")
    sizes = [Atoms().count(SENTENCES[chunk.start : chunk.end]) for chunk in layout.chunks]
    assert sizes[:-1] == [60] * (len(sizes) - 1)


@pytest.mark.parametrize("spec", EVERY)
def test_MD_09_later_pieces_of_a_table_carry_its_head_and_the_caption_stands_once(spec):
    layout = cut(TABLE, spec, 110, "text/markdown")
    first_row = TABLE.index(ROWS[0])
    for chunk, one in zip(layout.chunks, layout.inputs, strict=True):
        in_rows = first_row <= chunk.start < TABLE.index("\nafter")
        assert chunk.prefix == (HEAD if in_rows else "")
        assert one == chunk.prefix + TABLE[chunk.start : chunk.end].strip()
    assert sum(CAPTION.strip() in one for one in layout.inputs) == 1


@pytest.mark.parametrize("spec", [*READS_SENTENCES, DEFAULT_SEPARATORS])
def test_MD_09_no_row_is_cut(spec):
    layout = cut(TABLE, spec, 110, "text/markdown")
    assert all(TABLE[after.start - 1] == "\n" for _, after in pairwise(layout.chunks))


@pytest.mark.parametrize("spec", [*BY_COUNT, *BY_WORDS])
def test_MD_09_a_row_that_a_window_cuts_is_still_cited_exactly(spec):
    layout = cut(TABLE, spec, 110, "text/markdown")
    assert any(TABLE[after.start - 1] != "\n" for _, after in pairwise(layout.chunks))
