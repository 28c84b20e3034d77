"""Cases of the areas offsets, markdown and tokenizer that concern a whole index, by id."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from variorum.embedding import HashingEmbedder
from variorum.records.errors import InputRejectedError
from variorum.records.protocols import Role, Vectors
from workbench import Bench, words

OVERLAPPING = '[chunking]\nchunker = "fixed(max_tokens=24, overlap_tokens=8)"\nplanner = false\n'


def test_OFF_04_every_hit_that_holds_a_fact_cites_it_and_its_line(tmp_path: Path) -> None:
    bench = Bench(tmp_path, OVERLAPPING)
    first = " ".join([*words("one", 47).split(), "the", "code", "is", "zinc-90."])
    text = f"{first}\n\n{words('two', 40)}\n"
    bench.write({"a.txt": text})
    bench.sync()
    with bench.open() as index:
        holding = [hit for hit in index.search("zinc-90", 50).hits if "zinc-90" in hit.text]
        shown = [index.show(hit.citation) for hit in holding]
    line = text[: text.index("zinc-90")].count("\n") + 1
    assert len(holding) >= 2
    assert all(text[hit.start : hit.end] == hit.text for hit in holding)
    assert all(hit.start_line <= line <= hit.end_line for hit in holding)
    assert all("zinc-90" in one.text for one in shown)


@pytest.mark.parametrize("chunker", ["structural(max_tokens=12, min_tokens=2)", "anchored"])
def test_MD_11_prose_under_a_heading_is_found_when_it_is_split_again(
    tmp_path: Path, chunker: str
) -> None:
    text = "# A\n\nunique-prose-77 here.\n\n```py\n# c\n```\n"
    bench = Bench(tmp_path, f'[chunking]\nchunker = "{chunker}"\n')
    bench.write({"a.md": text})
    bench.sync()
    with bench.open() as index:
        assert "unique-prose-77" in index.search("unique-prose-77", 1).hits[0].text
        hits = index.search("anything", 50).hits
    covered = set().union(*(range(hit.start, hit.end) for hit in hits))
    assert all(not text[place].strip() or place in covered for place in range(len(text)))


def test_TOK_01_markers_are_ordinary_text(tmp_path: Path) -> None:
    text = (
        "The marker <|endoftext|> ends a document. After-marker fact 5521.\n[CLS] [SEP] <s> </s>\n"
    )
    bench = Bench(tmp_path)
    bench.write({"a.txt": text})
    bench.sync()
    with bench.open() as index:
        hit = index.search("fact 5521", 1).hits[0]
    assert "<|endoftext|>" in hit.text
    markers = ("<|endoftext|>", "[CLS]", "[SEP]", "<s>", "</s>")
    assert all(bench.embedder.tokenizer.count(marker) > 1 for marker in markers)


@pytest.mark.model
def test_TOK_01_markers_are_ordinary_text_to_the_default_model() -> None:
    from variorum.embedding import embedder_from_spec

    tokenizer = embedder_from_spec("e5-small").tokenizer
    for marker in ("<|endoftext|>", "[CLS]", "[SEP]", "<s>", "</s>"):
        assert tokenizer.count(marker) > 1


class Limited(HashingEmbedder):
    """Refuses, as an endpoint would, what its own rule counts over its limit."""

    refused = 0

    def embed(self, inputs: Sequence[str], role: Role = "passage") -> Vectors:
        for index, text in enumerate(inputs):
            if self.count([text])[0] > self.max_tokens:
                type(self).refused += 1
                raise InputRejectedError("too long", index=index)
        return super().embed(inputs, role)


def test_TOK_03_a_chunk_size_over_the_model_s_limit_cuts_nothing_off(tmp_path: Path) -> None:
    bench = Bench(tmp_path, '[chunking]\nchunker = "fixed(max_tokens=512)"\nplanner = false\n')
    numbered = [f"w{number}" for number in range(600)]
    numbered[480] = "kestrel"
    bench.write({"a.txt": " ".join(numbered)})
    with bench.open(embedder=Limited(64, max_tokens=256)) as index:
        report = index.sync()
        found = index.search("kestrel", 1).hits[0]
        assert index.verify() == []
    assert (report.documents.held, Limited.refused) == (0, 0)
    assert report.inputs.embed >= 3
    assert "kestrel" in found.text


@pytest.mark.parametrize("chunker", ["fixed(max_tokens=10000)", "recursive(max_tokens=10000)"])
def test_TOK_04_text_without_spaces_never_goes_over_the_limit(tmp_path: Path, chunker: str) -> None:
    bench = Bench(tmp_path, f'[chunking]\nchunker = "{chunker}"\nplanner = false\n')
    bench.write({"a.txt": "潮位站每日核对一次零点。" * 1000})
    with bench.open(embedder=Limited(64, max_tokens=8192)) as index:
        report = index.sync()
        assert index.verify() == []
    assert (report.documents.held, report.documents.added, Limited.refused) == (0, 1, 0)
    assert report.inputs.embed >= 1
