"""The reader of reprs agrees with Python on what Python can evaluate, and raises nothing on anything."""

import ast

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ddtree_doctor.triage.literal import CAP, parse

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**15), 10**15),
    st.text(st.characters(codec="ascii", exclude_categories=["Cc"]), max_size=20),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.text("abc_", min_size=1), inner, max_size=4)
    ),
    max_leaves=12,
)


def plain(value):
    """What the reader makes of an empty dict."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()} or []
    return [plain(item) for item in value] if isinstance(value, list) else value


@given(VALUES)
def test_agrees_with_python(value):
    text = repr(value)
    assert ast.literal_eval(text) == value
    if "\\x" not in text:
        assert parse(text) == plain(value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (
            "ServerArgs(tp_size=8, bs=[1, 2], ok=True, none=None)",
            {"tp_size": 8, "bs": [1, 2], "ok": True, "none": None},
        ),
        ("Outer(inner=Inner(a=1), x=<Enum.Y: 3>)", {"inner": {"a": 1}, "x": "<Enum.Y: 3>"}),
        ("{'a': (1, 2), 'b': {3, 4}}", {"a": [1, 2], "b": [3, 4]}),
        ("ServerArgs(dtype=torch.float16, url=http://x:1/y)", {"dtype": "torch.float16", "url": "http://x:1/y"}),
        ("ServerArgs(a=1, b='cut of", {"a": 1, "b": "cut of"}),
        ("ServerArgs(a=1, b", {"a": 1}),
        ("0.88", 0.88),
        ("-3", -3),
        ("", None),
    ],
)
def test_reads_what_engines_print(text, value):
    found = parse(text)

    if isinstance(value, dict):
        assert {key: found[key] for key in value} == value
    else:
        assert found == value


@given(st.text())
@example("(" * 5000)
@example("{'a':" * 5000)
@example("a(b=" * 5000)
@example("[" + "1," * 50_000)
@example("'" * 999)
def test_never_raises(text):
    parse(text)


def test_reads_no_further_than_its_cap():
    assert len(parse("'" + "x" * (2 * CAP))) < CAP + 1


def test_evaluates_nothing():
    assert parse("__import__('os').system('false')") == ["os"]
