"""What a study compares: specs that read back, and the planner only where it is named."""

import pytest

from unit.lab.words import WordSizer
from variorum.lab.peers import PEERS
from variorum.lab.subjects import MATCHED, Other, Ours, TooLongError, short, subject, subjects
from variorum.lab.versions import Version
from variorum.records.errors import InputError

SIZER = WordSizer(60)
TEXT = "# Title\n\n" + "\n\n".join(" ".join(f"w{n}x{k}" for k in range(12)) for n in range(12))


@pytest.mark.parametrize("spec", [*MATCHED, "anchored+planner", "steadlith", "cocoindex-markdown"])
def test_a_spec_reads_back(spec: str) -> None:
    found = subject(spec)
    assert subject(found.spec).spec == found.spec
    assert subject(short(found.spec)).spec == found.spec


def test_the_planner_runs_only_where_it_is_named() -> None:
    assert [
        subject(spec).spec.endswith("+planner") for spec in ("anchored", "anchored + planner")
    ] == [
        False,
        True,
    ]


def test_a_recipe_names_the_rules_or_the_library() -> None:
    assert "anchored/" in subject("anchored+planner").recipe
    assert "planner/" in subject("anchored+planner").recipe
    assert "semchunk" in subject("semchunk").recipe


@pytest.mark.parametrize(
    ("spec", "kind"),
    [
        ("nothing", "unknown-chunker"),
        ("anchored(", "unknown-chunker"),
        ("anchored(max_tokens=0)", "bad-parameter"),
        ("semchunk(size=4)", "bad-parameter"),
        ("semchunk+planner", "bad-parameter"),
        ("fixed(max_tokens=9, overlap_tokens=3)+planner", "bad-parameter"),
        ("semantic", "bad-parameter"),
    ],
)
def test_what_cannot_be_compared_is_refused(spec: str, kind: str) -> None:
    with pytest.raises(InputError) as caught:
        subject(spec)
    assert caught.value.kind == kind


def test_a_subject_named_twice_is_compared_once() -> None:
    assert len(subjects(["anchored", "anchored(max_tokens=220)", "fixed"])) == 2


def test_ours_cuts_through_the_product_and_its_inputs_are_slices() -> None:
    version = Version(TEXT, "text/markdown", SIZER.tokenizer)
    cut = Ours("fixed(max_tokens=20, overlap_tokens=0)").cut(version, SIZER)
    assert len(cut.inputs) > 5
    assert cut.contents() == list(cut.inputs)


@pytest.mark.parametrize("name", sorted(PEERS))
def test_a_peer_s_chunks_are_ranges_of_the_source(name: str) -> None:
    pytest.importorskip(
        PEERS[name]
        .package.replace("-", "_")
        .replace("_ai", "")
        .replace("llama_index_core", "llama_index")
        .replace("kara_toolkit", "kara"),
        reason="needs the extra `peers`",
    )
    sizes = {key: 40 if key == "max_tokens" else 300 for key in PEERS[name].defaults}
    version = Version(TEXT, "text/markdown", SIZER.tokenizer)
    cut = Other(name, sizes | ({"min_tokens": 10} if "min_tokens" in sizes else {})).cut(
        version, SIZER
    )
    assert "".join("".join(cut.contents()).split()) == "".join(TEXT.split())
    assert [span.start for span in cut.spans] == sorted(span.start for span in cut.spans)


def test_an_input_over_the_limit_is_a_failure_and_not_cut_off(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from variorum.lab import subjects as module
    from variorum.lab.peers import Peer
    from variorum.records.text import Span

    whole = Peer("none", {"max_tokens": 1}, lambda *_: lambda text: [Span(0, len(text))])
    monkeypatch.setitem(module.PEERS, "whole", whole)
    version = Version(TEXT, "text/markdown", SIZER.tokenizer)
    with pytest.raises(TooLongError):
        Other("whole", {"max_tokens": 1}).cut(version, SIZER)


def test_a_chunker_that_compares_meanings_has_a_short_spec_too() -> None:
    spec = "semantic(max_tokens=200, min_tokens=64, percentile=90.0, window=3)"
    assert short(spec) == "semantic(max_tokens=200)"
