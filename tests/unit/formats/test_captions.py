from variorum.formats import parse
from variorum.records.text import BlockKind, Structure, Text

K = BlockKind
VTT = """WEBVTT - talk
Kind: captions
Language: en

STYLE
::cue { color: red }

NOTE a note

intro
00:01.000 --> 00:02.000 align:start
<v.loud Ada Byron>Hello <b>there</b>

00:00:02.000 --> 00:00:03.000
- Who?
- Me.

2
00:03.000 --> 00:04.000
<v Bo>End
"""


def told(structure: Structure, characters: str) -> list[tuple[BlockKind, tuple[str, ...], str]]:
    return [(b.kind, b.heading_path, characters[b.start : b.end]) for b in structure.blocks]


def srt(*said: str) -> str:
    return "\n".join(
        f"{n}\n00:00:0{n},000 --> 00:00:0{n},900\n{words}\n" for n, words in enumerate(said)
    )


def test_every_cue_of_webvtt_is_a_turn_under_its_voice() -> None:
    structure = parse(Text(VTT), "text/vtt")
    assert structure.metadata == {"kind": "captions", "language": "en"}
    assert [(kind, path) for kind, path, _ in told(structure, VTT)] == [
        *[(K.OTHER, ())] * 3,
        (K.TURN, ("Ada Byron",)),
        (K.TURN, ()),
        (K.TURN, ("Bo",)),
    ]
    assert told(structure, VTT)[3][2].startswith("intro\n00:01.000")


def test_every_cue_of_subrip_is_a_turn() -> None:
    source = srt("one\ntwo", "three\n\nafter a blank line", "four")
    structure = parse(Text(source), "application/x-subrip")
    assert [kind for kind, _, _ in told(structure, source)] == [K.TURN] * 3
    assert told(structure, source)[1][2].endswith("after a blank line\n")


def test_speakers_are_read_from_the_words_if_most_cues_name_one() -> None:
    source = srt("ADA: a", "BO: b", "ADA: c", "d", "<i>BO: e</i>", "ADA: f")
    structure = parse(Text(source), "application/x-subrip")
    paths = [path for _, path, _ in told(structure, source)]
    assert paths == [("ADA",), ("BO",), ("ADA",), ("ADA",), ("BO",), ("ADA",)]


def test_cues_need_no_blank_line_between_them() -> None:
    source = srt("one", "two").replace("\n\n", "\n")
    structure = parse(Text(source), "application/x-subrip")
    assert [text for _, _, text in told(structure, source)] == [
        "0\n00:00:00,000 --> 00:00:00,900\none\n",
        "1\n00:00:01,000 --> 00:00:01,900\ntwo\n",
    ]


def test_what_is_no_captions_is_plain_text_and_says_so() -> None:
    assert parse(Text("hello"), "text/vtt").fallback.startswith("not read as WebVTT")
    assert parse(Text("hello"), "application/x-subrip").fallback.startswith("not read as SubRip")
