import pytest

from variorum.formats import parse
from variorum.formats.front_matter import MAX_CHARACTERS, read_front_matter
from variorum.records.text import BlockKind, Text


def test_yaml_is_flattened_to_scalars() -> None:
    source = (
        "---\ntitle: 'T: x'\nn: 3\nx: 1.5\ndraft: true\nday: 2024-02-03\nnone:\n"
        "tags: [a, b, 3]\nauthor: {name: N, links: {web: w}}\nparts:\n- k: v\n- 2\n"
        "big: 99999999999999999999\nnan: .nan\n...\nrest"
    )
    front = read_front_matter(source)
    assert source[front.end :] == "rest"
    assert front.metadata == {
        "title": "T: x",
        "n": 3,
        "x": 1.5,
        "draft": True,
        "day": "2024-02-03",
        "tags": "a, b, 3",
        "author.name": "N",
        "author.links.web": "w",
        "parts.0.k": "v",
        "parts.1": 2,
        "big": "99999999999999999999",
        "nan": "nan",
    }


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_toml_is_read_too(line_end: str) -> None:
    source = '+++\ntitle = "T"\nday = 2024-02-03\n[a]\nb = [1, 2]\n+++\n# H\n'
    source = source.replace("\n", line_end)
    structure = parse(Text(source), "text/markdown")
    assert structure.metadata == {"title": "T", "day": "2024-02-03", "a.b": "1, 2"}
    assert [b.kind for b in structure.blocks] == [BlockKind.FRONT_MATTER, BlockKind.HEADING]
    assert structure.blocks[1].heading_path == ("H",)


@pytest.mark.parametrize(
    "body",
    [
        "a: b: c",
        "a: &x [1]\nb: *x",
        "a: 1\na: 2",
        "a: !!python/object:os.system x",
        "a: !!bool x",
        "a: 2024-13-45",
        "a: " + "[" * 5000,
        "a: " + "[" * 30 + "]" * 30,
        'a: "\\ud800"',
        '"\\ud800": a',
        "a: \x07",
        "a: " + "9" * 5000,
    ],
)
def test_malformed_front_matter_keeps_its_place_and_says_why(body: str) -> None:
    source = f"---\n{body}\n---\n# H\n"
    structure = parse(Text(source), "text/markdown")
    assert structure.metadata == {}
    assert structure.fallback.startswith("front matter not read: ")
    assert [b.kind for b in structure.blocks] == [BlockKind.FRONT_MATTER, BlockKind.HEADING]
    assert structure.parser == "markdown"


def test_an_alias_bomb_is_not_expanded() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
    front = read_front_matter("---\n" + "\n".join(lines) + "\n---\n")
    assert front.problem == "front matter not read: aliases are not read"


@pytest.mark.parametrize(
    "source",
    [
        "---\n\nkey: x\n---\n",
        "---\nwords between breaks\n---\n",
        "---\n- a\n---\n",
        "---\n---\n",
        "---\nkey: never closed\n",
        "----\nkey: x\n----\n",
        " ---\nkey: x\n---\n",
        "\n---\nkey: x\n---\n",
        "---",
        "---\n" + "k: v\n" * MAX_CHARACTERS + "---\n",
    ],
)
def test_other_rules_at_the_top_are_ordinary_markdown(source: str) -> None:
    assert read_front_matter(source).end == 0
