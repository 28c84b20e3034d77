"""What cutting does to sentences and to evidence, by hand."""

from recall_words import dataset, every, passage, question, reading
from variorum.embedding import HashingTokenizer
from variorum.lab.measure import measure
from variorum.lab.questions import Reading
from variorum.lab.recall.cuts import Cuts, Sentences, cut_value, cuts, pieces
from variorum.lab.recall.units import Cutter, Piece, Units, cut
from variorum.records.text import Span

TEXT = "One two three. Four five six. Seven eight nine."
ONE = reading("a", TEXT)
SENTENCES = Sentences.of([ONE])


def at(*spans: tuple[int, int]) -> Cutter:
    def cut_there(one: Reading) -> list[Piece]:
        return [Piece(Span(*span), one.characters[slice(*span)]) for span in spans]

    return cut_there


def units(*spans: tuple[int, int]) -> Units:
    return cut([ONE], at(*spans), HashingTokenizer())


def test_a_cut_between_sentences_parts_none() -> None:
    assert cuts(units((0, 15), (15, 30), (30, 47)), SENTENCES) == Cuts(2, 0, 3, 3)


def test_a_cut_inside_a_sentence_parts_it() -> None:
    assert cuts(units((0, 20), (20, 47)), SENTENCES) == Cuts(1, 1, 3, 2)


def test_a_sentence_that_an_overlapping_unit_holds_is_whole_though_a_cut_is_inside_it() -> None:
    assert cuts(units((0, 20), (14, 47)), SENTENCES) == Cuts(1, 1, 3, 3)


def test_units_without_the_blanks_between_them_cut_no_sentence() -> None:
    assert cuts(units((0, 14), (15, 29), (30, 47)), SENTENCES) == Cuts(2, 0, 3, 3)


def test_in_a_text_without_capitals_a_small_letter_begins_a_sentence() -> None:
    small = reading("a", "one two three. four five six. " * 40)
    assert len(Sentences.of([small]).spans[small.key]) == 80


def test_chinese_sentences_are_found_too() -> None:
    chinese = reading("a", "第一句话。第二句话！第三句话？")
    found = cut([chinese], every(5), HashingTokenizer())
    assert cuts(found, Sentences.of([chinese])) == Cuts(2, 0, 3, 3)


def counted(found: Units, *spans: tuple[int, int]) -> int | None:
    asked = question("q", "?", "a", (passage("a", *spans),))
    texts = dataset([ONE], []).characters
    return pieces(asked.alternatives[0][0], asked, found.of(ONE.key), texts)


def test_a_passage_counts_the_fewest_units_that_cover_it() -> None:
    found = units((0, 10), (10, 20), (20, 30), (30, 47))
    assert counted(found, (0, 9)) == 1
    assert counted(found, (5, 25)) == 3
    assert counted(units((0, 20), (10, 30), (20, 47)), (5, 25)) == 2
    assert counted(units((0, 30), (10, 47)), (12, 28)) == 1


def test_of_several_places_the_one_in_fewest_units_counts() -> None:
    found = units((0, 10), (10, 47))
    assert counted(found, (5, 14)) == 2
    assert counted(found, (5, 14), (20, 29)) == 1


def test_a_passage_that_the_units_leave_out_has_no_pieces() -> None:
    assert counted(units((0, 10), (30, 47)), (5, 25)) is None


def value(name: str, found: Units, *passages: tuple[int, int]) -> float | None:
    asked = question("q", "?", "a", tuple(passage("a", span) for span in passages))
    texts = dataset([ONE], []).characters
    return cut_value(measure(name), asked, found.of(ONE.key), texts)


def test_intact_spans_are_counted_over_all_passages_of_the_set() -> None:
    found = units((0, 10), (10, 20), (20, 47))
    assert value("intact_span_coverage", found, (0, 9), (5, 14), (25, 40)) == 2 / 3


def test_a_passage_that_no_unit_covers_is_not_intact_and_has_no_pieces() -> None:
    found = units((0, 10), (30, 47))
    assert value("intact_span_coverage", found, (0, 9), (12, 25)) == 1 / 2
    assert value("fragmentation", found, (0, 9), (12, 25)) == 1
    assert value("fragmentation", found, (12, 25)) is None


def test_fragmentation_is_the_mean_of_the_pieces() -> None:
    found = units((0, 10), (10, 20), (20, 47))
    assert value("fragmentation", found, (0, 9), (5, 25)) == 2
