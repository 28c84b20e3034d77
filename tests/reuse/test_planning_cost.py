"""What planning an edit tokenizes and considers, counted, beside a fresh layout of the text."""

import random

import pytest

from unit.chunking.fakes import Atoms, FakeSizer, previous, recipe, structure_of
from variorum.chunking import lay_out, parts, planner

DEFAULT = "anchored(max_tokens=220, min_tokens=44)"
SPECS = [DEFAULT, "recursive(max_tokens=120)", "fixed(max_tokens=100)"]
CHARACTERS = 57_000


class CountingAtoms(Atoms):
    """Atoms that count the characters they read."""

    splits_at_blanks = True

    def __init__(self) -> None:
        self.characters = 0

    def starts(self, text: str) -> list[int]:
        self.characters += len(text)
        return super().starts(text)


class Work:
    """The work of one layout, in the units that it grows with.

    `characters` are tokenized, `inputs` counted exactly, `scanned` searched for candidates;
    `places` are what a path may run through, and `steps` the pairs of them that it considers.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.places = self.steps = self.scanned = 0
        self.sizer = FakeSizer(tokenizer=CountingAtoms())
        path, found = planner.cheapest_path, parts.boundaries

        def cheapest_path(places, before, reusable, pricing, max_tokens):
            self.places += len(places)
            self.steps += sum(steps(before, max_tokens)) + len(reusable)
            return path(places, before, reusable, pricing, max_tokens)

        def boundaries(text, structure):
            self.scanned += len(text)
            return found(text, structure)

        monkeypatch.setattr(planner, "cheapest_path", cheapest_path)
        monkeypatch.setattr(parts, "boundaries", boundaries)

    @property
    def characters(self) -> int:
        return self.sizer.tokenizer.characters

    @property
    def inputs(self) -> int:
        return sum(self.sizer.calls)


def steps(before, max_tokens):
    """How many places a path looks back at from each."""
    first = 0
    for number, here in enumerate(before):
        while here - before[first] > max_tokens:
            first += 1
        yield number - first


def handbook(characters=CHARACTERS, seed=3):
    """Sections of sentences of plain words, in paragraphs."""
    chosen = random.Random(seed)
    words = ["".join(chosen.choices("abcdefghij", k=chosen.randint(2, 7))) for _ in range(900)]
    pieces = []
    length = 0
    while length < characters:
        number = len(pieces)
        sentences = (
            " ".join(chosen.choices(words, k=chosen.randint(6, 18))).capitalize() + "."
            for _ in range(chosen.randint(2, 6))
        )
        paragraph = " ".join(sentences) + "\n\n"
        pieces.append(f"## Part {number}\n\n{paragraph}" if number % 4 == 0 else paragraph)
        length += len(pieces[-1])
    return "".join(pieces)


def edited(text, *shares):
    """The text with a sentence put in after the sentence end at each share of its length."""
    for number, share in enumerate(sorted(shares, reverse=True)):
        place = text.index(". ", int(len(text) * share)) + 2
        text = f"{text[:place]}This sentence {number} is new here. {text[place:]}"
    return text


def work_of(monkeypatch, text, spec, old=None, depth=0):
    """(work, layout) of a text, planned over `old`'s layout where one is given."""
    settings = recipe(spec, planner=True, heading_depth=depth)
    parent = None
    if old is not None:
        fresh = lay_out(old, structure_of(old), settings, FakeSizer())
        parent = previous(old, fresh)
    with monkeypatch.context() as patched:
        work = Work(patched)
        layout = lay_out(text, structure_of(text), settings, work.sizer, parent)
    return work, layout


def whole_plan(monkeypatch, text, spec, old):
    """The work of planning the whole text: what no kept stretch would take."""
    with monkeypatch.context() as patched:
        patched.setattr(planner, "kept_stretches", lambda _old, _spans, new: [[0], [len(new)]])
        patched.setattr(planner, "runs", lambda _found, _contents: [])
        return work_of(patched, text, spec, old)[0]


@pytest.mark.parametrize("depth", [0, 2])
@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_a_sentence_in_a_long_document_takes_under_a_twentieth_of_a_fresh_layouts_work(
    monkeypatch, spec, share, depth
):
    old = handbook()
    new = edited(old, share)
    fresh, layout = work_of(monkeypatch, new, spec, depth=depth)
    planned, _ = work_of(monkeypatch, new, spec, old, depth)
    whole = whole_plan(monkeypatch, new, spec, old)
    assert 0 < planned.characters < 0.05 * fresh.characters
    assert planned.inputs <= 1 + 0.05 * len(layout.chunks)
    assert 0 < planned.places < 0.05 * whole.places
    assert 0 < planned.steps < 0.05 * whole.steps
    assert planned.scanned < 0.06 * whole.scanned


@pytest.mark.parametrize("spec", SPECS)
def test_several_edits_take_as_much_more_as_there_are_windows(monkeypatch, spec):
    old = handbook(4 * CHARACTERS)
    shares = [0.04, 0.2, 0.24, 0.52, 0.56, 0.6, 0.9]
    singles = [work_of(monkeypatch, edited(old, share), spec, old)[0] for share in shares]
    together, _ = work_of(monkeypatch, edited(old, *shares), spec, old)
    assert together.characters <= 1.1 * sum(one.characters for one in singles)
    assert together.places <= 1.1 * sum(one.places for one in singles)
    assert together.steps <= 1.1 * sum(one.steps for one in singles)
    assert together.inputs <= sum(one.inputs for one in singles)


def test_a_moved_half_is_not_tokenized(monkeypatch):
    old = handbook()
    half = old.index("## Part", len(old) // 2)
    planned, _ = work_of(monkeypatch, old[half:] + old[:half], DEFAULT, old)
    assert planned.characters < 0.1 * len(old)


def test_a_text_that_keeps_nothing_is_tokenized_once_and_counted_once(monkeypatch):
    old, new = handbook(seed=3), handbook(seed=4)
    fresh, _ = work_of(monkeypatch, new, DEFAULT)
    planned, _ = work_of(monkeypatch, new, DEFAULT, old)
    assert planned.characters <= 1.01 * fresh.characters


def test_a_layout_too_far_from_the_usual_is_compared_with_a_fresh_one(monkeypatch):
    lines = "".join(f"    step_{number}(a, b, c, d, e)\n" for number in range(400))
    old = f"# Title\n\n```\n{lines}```\n"
    new = old.replace("step_200(", "changed(")
    with monkeypatch.context() as patched:
        patched.setattr(planner, "drift", lambda shape, tokens: 0.0)
        planned, _ = work_of(patched, new, DEFAULT, old)
    assert planned.characters >= len(new)
