import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ddtree_doctor.engine.source.evaluate import UNRESOLVED, Evaluator, literal

HERE = """
from enum import Enum
from sglang.srt.there import BASE, Mode, names_of
PLAIN = ["a", "b"]
JOINED = PLAIN + ["c"] + list(BASE)
SPREAD = [*PLAIN, "d"]
SET = {"r", "p", "q"}
PRODUCT = 10 * 1000 * 1000
MODES = [m.value for m in Mode]
NAMES = [m.name.lower() for m in Mode]
LISTED = list(Mode)
CALLED = names_of()
MAP = {"x": Unknown, "y": Other}
KEYS = list(MAP.keys())
FIRST = PLAIN[0]
MEMBER = Backend.ALL
DEFAULT = lambda: list(PLAIN)
LOOP = LOOPED
LOOPED = LOOP
TOO_MUCH = 10**10**10
HUGE = 99999999999 * 99999999999 * 99999999999
class Backend:
    FULL = "full"
    ALL = (FULL, "none")
"""
THERE = """
BASE = frozenset({"z"})
class Mode(Enum):
    NONE = "none"
    ALL = "all"
def names_of():
    import torch
    from sglang.srt.deeper import NAMES
    return list(NAMES)
"""


@pytest.fixture
def evaluate(tree_of):
    tree = tree_of({"srt/here.py": HERE, "srt/there.py": THERE, "srt/deeper.py": 'NAMES = ("p", "q")\n'})
    evaluator, module = Evaluator(tree), tree.module("srt/here.py")
    return lambda text, scope=None: evaluator.value(ast.parse(text, mode="eval").body, module, scope)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("PLAIN", ["a", "b"]),
        ("JOINED", ["a", "b", "c", "z"]),
        ("SPREAD", ["a", "b", "d"]),
        ("SET", ["p", "q", "r"]),
        ("list(SET)", ["p", "q", "r"]),
        ("PRODUCT", 10_000_000),
        ("MODES", ["none", "all"]),
        ("NAMES", ["none", "all"]),
        ("LISTED", ["none", "all"]),
        ("CALLED", ["p", "q"]),
        ("KEYS", ["x", "y"]),
        ("FIRST", "a"),
        ("MEMBER", ["full", "none"]),
        ("DEFAULT", ["a", "b"]),
        ("Mode.ALL", "all"),
        ("['auto'] + names_of()", ["auto", "p", "q"]),
        ("-1", -1),
    ],
)
def test_constants_are_followed_through_names_imports_enums_and_functions(evaluate, text, expected):
    assert evaluate(text) == expected


@pytest.mark.parametrize(
    "text",
    ["LOOP", "MISSING", "print(1)", "PLAIN[9]", "PLAIN + 3", "Mode.NO", "open('x')", "f'{PLAIN}'", "TOO_MUCH", "HUGE"],
)
def test_what_cannot_be_known_is_unresolved_and_nothing_runs(evaluate, text):
    assert evaluate(text) is UNRESOLVED


def test_local_names_come_before_global_ones(evaluate):
    scope = {"chosen": ast.parse("PLAIN", mode="eval").body, "PLAIN": ast.parse("['l']", mode="eval").body}
    assert evaluate("['auto'] + chosen", scope) == ["auto", "l"]


ATOMS = st.sampled_from(
    ["PLAIN", "LOOP", "Mode", "MAP", "names_of()", "1", "'a'", "None", "[]", "Backend.ALL", "x.y.z", "...", "-PLAIN"]
)
OPERATORS = st.sampled_from(["+", "*", "|", "-", "**", " in "])
FUNCTIONS = st.sampled_from(["list", "sorted", "len", "MAP.keys", "Mode"])
EXPRESSIONS = st.recursive(
    ATOMS,
    lambda inner: (
        st.tuples(inner, st.sampled_from(["+", "*", "|", "-", "**", " in "]), inner).map(
            lambda t: f"({t[0]}{t[1]}{t[2]})"
        )
        | st.tuples(st.sampled_from(["list", "sorted", "len", "MAP.keys", "Mode"]), inner).map(
            lambda t: f"{t[0]}({t[1]})"
        )
        | inner.map(lambda e: f"[m.value for m in {e}]")
        | st.tuples(inner, inner).map(lambda t: f"{t[0]}[{t[1]}]")
        | inner.map(lambda e: f"[*{e}]")
    ),
    max_leaves=6,
)


@given(EXPRESSIONS)
def test_no_expression_raises(tmp_path_factory, text):
    from ddtree_doctor.engine.source.tree import SourceTree
    from tests.engine.source.trees import plant

    folder = tmp_path_factory.getbasetemp() / "expressions"
    package = folder / "sglang"
    if not package.exists():
        plant(folder, {"srt/here.py": HERE, "srt/there.py": THERE})
    tree = SourceTree(package)
    try:
        expression = ast.parse(text, mode="eval").body
    except SyntaxError:
        return
    Evaluator(tree).value(expression, tree.module("srt/here.py"))


def test_a_literal_that_is_none_is_none_and_not_unresolved():
    assert literal(ast.parse("None", mode="eval").body) is None
    assert literal(None) is UNRESOLVED
