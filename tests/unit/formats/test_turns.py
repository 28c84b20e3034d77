import pytest

from variorum.formats import parse
from variorum.records.text import Block, BlockKind, Text

K = BlockKind
Told = list[tuple[BlockKind, tuple[str, ...], str]]


def blocks_of(characters: str, kind: str = "plain") -> tuple[Block, ...]:
    return parse(Text(characters), f"text/{kind}").blocks


def told(characters: str, kind: str = "plain") -> Told:
    return [
        (b.kind, b.heading_path, characters[b.start : b.end].strip())
        for b in blocks_of(characters, kind)
    ]


def talk(*openings: str, between: str = "\n\n") -> str:
    return between.join(f"{opening} words {n}" for n, opening in enumerate(openings)) + "\n"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ada:", "Mr. Bo O'Hara:"),
        ("[00:12] Ada:", "[1:02:03] Mr. Bo O'Hara:"),
        ("00:12 - Ada:", "(0:12) Mr. Bo O'Hara:"),
        ("Ada (00:12):", "Mr. Bo O'Hara [00:12]:"),
        ("**Ada:**", "**Mr. Bo O'Hara**:"),
    ],
)
@pytest.mark.parametrize("kind", ["plain", "markdown"])
@pytest.mark.parametrize("between", ["\n\n", "\n"])
def test_paragraphs_or_lines_that_name_their_speaker_are_turns(
    one: str, other: str, kind: str, between: str
) -> None:
    found = told(talk(one, other, one, other, one, between=between), kind)
    assert [kind for kind, _, _ in found] == [K.TURN] * 5
    assert [path for _, path, _ in found] == [("Ada",), ("Mr. Bo O'Hara",)] * 2 + [("Ada",)]


def test_speakers_may_be_chinese() -> None:
    found = told("张三：你好。\n\n李四：你好。\n\n张三：走吧\n\n李四：好\n\n张三：嗯\n")
    assert [path for _, path, _ in found] == [("张三",), ("李四",)] * 2 + [("张三",)]


def test_what_follows_a_turn_is_said_by_the_same_person() -> None:
    source = "Minutes\n\n" + talk("Ada:", "Bo:", "Ada:", "Bo:", "Ada:") + "\nand so on\n"
    found = told(source)
    assert found[0] == (K.PARAGRAPH, (), "Minutes")
    assert found[-1] == (K.PARAGRAPH, ("Ada",), "and so on")


def test_lines_after_the_first_belong_to_the_turn() -> None:
    source = "Ada: a\nb\nBo: c\nAda: d\nBo: e\nAda: f\n"
    assert told(source)[0] == (K.TURN, ("Ada",), "Ada: a\nb")


def test_headings_stay_above_the_speaker_and_end_a_turn() -> None:
    turns = talk("Ada:", "Bo:", "Ada:", "Bo:", "Ada:")
    found = told(f"# Day 1\n\n{turns}\n# Day 2\n\nlater\n", "markdown")
    assert found[1][1] == ("Day 1", "Ada")
    assert found[-1] == (K.PARAGRAPH, ("Day 2",), "later")


@pytest.mark.parametrize(
    "source",
    [
        talk("Ada:", "Bo:", "Ada:", "Bo:"),
        talk("Ada:", "Bo:", "Ada:", "Bo:", "Ada:", "x", "y", "z", "w"),
        talk("Host:", "Port:", "User:", "Path:", "Mode:", "Size:"),
        talk("Note:", "Warning:", "Note:", "Tip:", "Note:", "Warning:"),
        talk("fix:", "feat:", "fix:", "feat:", "fix:", between="\n"),
        talk("Ada:", "Ada:", "Ada:", "Ada:", "Ada:"),
        talk("12:30", "12:31", "12:32", "12:33", "12:34"),
        talk(*["This is a rather long sentence with a colon:"] * 6),
        "see http://x.y\n\n" * 6,
    ],
)
def test_what_is_no_transcript_has_no_turns(source: str) -> None:
    assert K.TURN not in {b.kind for b in blocks_of(source)}
    assert not any(b.heading_path for b in blocks_of(source))
