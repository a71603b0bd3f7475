from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ddtree_doctor.contract.given import Given
from ddtree_doctor.facts.model import Engine, Option
from ddtree_doctor.launch.model import Flag
from tests.strategies import facts


def read(*words: str) -> Given:
    return Given(facts(*words))


def test_the_last_of_several_flags_wins() -> None:
    value = read("--tp-size", "4", "--tp-size", "8").integer("tp_size")
    assert (value.value, value.origin, value.why) == (8, "given", "--tp-size 8")


def test_the_newest_name_goes_before_older_ones() -> None:
    both = read("--cuda-graph-max-bs", "64", "--cuda-graph-max-bs-decode", "32")
    assert both.integer("cuda_graph_max_bs_decode", "cuda_graph_max_bs").value == 32


@pytest.mark.parametrize(
    ("word", "why"), [("eight", "no whole number"), ("8.5", "no whole number"), ("0", "at least 1"), ("９", "no whole")]
)
def test_a_word_that_is_no_number_leaves_the_value_unknown_with_flag_and_reason(word: str, why: str) -> None:
    value = read("--tp-size", word).integer("tp_size", default=1)
    assert not value.known
    assert f"--tp-size {word}" in value.why
    assert why in value.why


@pytest.mark.parametrize(("word", "value"), [("0.85", 0.85), ("0", None), ("1", None), ("nan", None), ("most", None)])
def test_a_fraction_lies_between_0_and_1(word: str, value: float | None) -> None:
    assert read("--mem-fraction-static", word).fraction("mem_fraction_static").value == value


def test_what_the_shell_decides_at_run_time_is_unknown() -> None:
    case = facts()
    flag = Flag(option="--tp", name="tp_size", values=("$N",), unknown="$N is not set")
    case = replace(case, launch=replace(case.launch, flags=(flag,)))
    assert Given(case).integer("tp_size", default=1).why == "--tp: $N is not set"


def test_a_field_that_the_launch_could_not_read_is_unknown() -> None:
    case = facts()
    case = replace(case, launch=replace(case.launch, unknown={"tp_size": "--config is not there"}))
    assert not Given(case).integer("tp_size", default=1).known


def test_the_engines_default_goes_before_the_callers() -> None:
    option = Option(name="tp_size", options=("--tp",), default=2, default_known=True)
    value = Given(facts(engine=Engine(options=(option,)))).integer("tp_size", default=1)
    assert (value.value, value.origin) == (2, "default")


@pytest.mark.parametrize(
    ("words", "on"),
    [
        ((), False),
        (("--enable-x",), True),
        (("--enable-x", "true"), True),
        (("--enable-x", "false"), False),
    ],
)
def test_a_switch_is_on_where_it_is_there(words: tuple[str, ...], on: bool) -> None:
    assert read(*words).switch("enable_x").value is on


def test_a_switch_with_no_in_front_is_off() -> None:
    case = facts()
    case = replace(case, launch=replace(case.launch, flags=(Flag(option="--no-enable-x", name="enable_x"),)))
    assert Given(case).switch("enable_x").value is False


def test_a_list_is_read_whole() -> None:
    assert read("--cuda-graph-bs", "1", "2", "8").integers("cuda_graph_bs").value == (1, 2, 8)
    assert not read("--cuda-graph-bs").integers("cuda_graph_bs").known


@pytest.mark.parametrize("text", ["{", "[1]", "NaN", "[" * 9000])
def test_a_mapping_must_be_a_json_object(text: str) -> None:
    assert not read("--cuda-graph-config", text).mapping("cuda_graph_config").known
    assert read("--cuda-graph-config", '{"decode": {}}').mapping("cuda_graph_config").value == {"decode": {}}


@given(
    st.lists(st.text(max_size=12), max_size=3),
    st.sampled_from(["integer", "fraction", "text", "switch", "integers", "mapping"]),
)
def test_no_words_make_reading_raise(words: list[str], kind: str) -> None:
    case = facts()
    flag = Flag(option="--x", name="x", values=tuple(words))
    case = replace(case, launch=replace(case.launch, flags=(flag,)))
    value = getattr(Given(case), kind)("x")
    assert value.known or value.why


def test_the_engines_own_type_reads_the_words() -> None:
    option = Option(name="context_length", options=("--context-length",), type="human_readable_int")
    case = facts("--context-length", "32k", engine=Engine(options=(option,)))
    assert Given(case).integer("context_length").value == 32_000


def test_a_default_of_another_type_leaves_the_value_unknown() -> None:
    option = Option(name="page_size", options=("--page-size",), default="auto", default_known=True)
    assert "'auto' is no whole number" in Given(facts(engine=Engine(options=(option,)))).integer("page_size").why
