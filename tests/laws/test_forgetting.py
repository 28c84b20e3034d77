"""A policy without an erased document says of every other what it said."""

import json

from hypothesis import given
from hypothesis import strategies as st

from variorum.access.forgetting import without_document
from variorum.access.grants import grant_for
from variorum.access.policy import parse_policy
from variorum.records.names import DocumentName

NAMES = [
    DocumentName(source, path.encode())
    for source in ("docs", "wiki")
    for path in ("ann.md", "hr/ann.md", "hannah.md", "离职/安.md", "it's.md", "a#b.md")
]
PATTERNS = ["*:**", "docs:hr/**", "*:ann.md", *(f"{n.source}:{n.path.decode()}" for n in NAMES)]


def spelt(text: str, style: int) -> str:
    """A TOML string."""
    if style == 1 and "'" not in text:
        return f"'{text}'"
    return json.dumps(text, ensure_ascii=style == 2)


strings = st.builds(spelt, st.sampled_from(PATTERNS), st.integers(0, 2))
rules = st.builds(
    '# about {2}\n[[rules]]\ndocuments = [{0}] # {2}\nreaders = ["user:{1}"]\n'.format,
    st.lists(strings, min_size=1, max_size=3).map(", ".join),
    st.sampled_from("uvw"),
    st.sampled_from([name.path.decode() for name in NAMES]),
)


@given(policy=st.lists(rules, max_size=4).map("\n".join), gone=st.sampled_from(NAMES))
def test_other_documents_keep_their_grants(policy: str, gone: DocumentName) -> None:
    left = without_document(policy, gone)
    before, after = parse_policy(policy), parse_policy(left)
    for name in NAMES:
        if name != gone:
            assert grant_for(after, name) == grant_for(before, name)
    patterns = {
        f"{source}:{glob}"
        for rule in after.rules
        for source, globs in rule.patterns
        for glob in globs.patterns
    }
    assert f"{gone.source}:{gone.path.decode()}" not in patterns


@given(policy=st.lists(rules, max_size=4).map("\n".join), gone=st.sampled_from(NAMES))
def test_no_comment_holds_its_path(policy: str, gone: DocumentName) -> None:
    left = without_document(policy, gone)
    comments = [line for line in left.splitlines() if line.startswith("#")]
    assert not any(gone.path.decode() in line for line in comments)
