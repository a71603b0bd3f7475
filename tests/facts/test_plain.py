from hypothesis import given

from ddtree_doctor.facts.model import Engine, ModelConfig
from ddtree_doctor.facts.plain import DEEPEST, plain, tuples
from tests.facts.strategies import ENGINES, LEDGERS


def same(text):
    return text


@given(ENGINES)
def test_making_plain_twice_changes_nothing_more(engine):
    once = plain(engine, same)
    assert plain(once, same) == once


@given(LEDGERS)
def test_what_is_plain_already_stays_as_it_is(ledger):
    assert plain(ledger, same) == ledger


def test_every_text_is_passed_through():
    config = ModelConfig(name="a", values={"a": ["a", {"a": "a"}]})
    assert plain(config, str.upper) == ModelConfig(name="A", values={"A": ["A", {"A": "A"}]})


def test_traits_are_tuples_and_other_open_values_lists():
    assert plain(Engine(traits={"x": [1, [2]]}), same).traits == {"x": (1, (2,))}
    assert plain(ModelConfig(name="", values={"x": (1, (2,))}), same).values == {"x": [1, [2]]}
    assert tuples({"a": [{"b": [1]}]}) == {"a": ({"b": (1,)},)}


def test_values_nested_without_end_are_cut():
    loop = []
    loop.append(loop)
    depth, inner = 0, plain(ModelConfig(name="", values={"x": loop}), same).values["x"]
    while isinstance(inner, list):
        depth, inner = depth + 1, inner[0]
    assert depth == DEEPEST - 1  # the mapping that holds the list is a level of its own
