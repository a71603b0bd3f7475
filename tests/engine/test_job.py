"""From a launch to a start: what is kept, what is replaced, and that both are said."""

from __future__ import annotations

import json
from dataclasses import asdict, fields, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ddtree_doctor.contract.model import Settings
from ddtree_doctor.engine.job import CONTEXT, KEPT, Job, job
from ddtree_doctor.knowledge import Value
from ddtree_doctor.launch.model import Flag, Launch

UNKNOWN = Settings(**{field.name: Value(name=field.name, why="not given") for field in fields(Settings)})


def settings(**known: object) -> Settings:
    """Settings of which only `known` are known, as given by the user."""
    return replace(UNKNOWN, **{name: Value(name=name, value=value, origin="given") for name, value in known.items()})


def launch(*flags: Flag, **environment: str) -> Launch:
    return Launch(command="python -m sglang.launch_server", flags=flags, environment=environment)


def flag(option: str, name: str | None, *values: str, unknown: str = "") -> Flag:
    return Flag(option=option, name=name, values=values, unknown=unknown)


FOUNDING = launch(
    flag("--model-path", "model_path", "moonshotai/Kimi-K2.6"),
    flag("--tp", "tp_size", "8"),
    flag("--speculative-algorithm", "speculative_algorithm", "DDTREE"),
    flag("--speculative-num-draft-tokens", "speculative_num_draft_tokens", "8"),
    flag("--speculative-ddtree-budget", "speculative_ddtree_budget", "32"),
    flag("--speculative-draft-model-path", "speculative_draft_model_path", "z-lab/Kimi-K2.6-DFlash"),
    flag("--trust-remote-code", "trust_remote_code"),
    flag("--quantization", "quantization", "fp8"),
)


def test_the_launchs_words_that_decide_a_shape_are_kept_as_they_were_spelt():
    assert job(FOUNDING, UNKNOWN).options == (
        *("--tp", "8", "--speculative-algorithm", "DDTREE", "--speculative-num-draft-tokens", "8"),
    )


def test_a_plugins_options_come_by_name():
    assert job(FOUNDING, UNKNOWN, plugin="ddtree").values["speculative_ddtree_budget"] == "32"


def test_what_is_replaced_and_what_is_left_out_is_said():
    said = "\n".join(job(FOUNDING, settings(tp=8, attention_backend="flashinfer")).substituted)
    for word in (
        "CPU",
        "flashinfer",
        "moonshotai/Kimi-K2.6",
        "z-lab/Kimi-K2.6-DFlash",
        "rank 0 of 8",
        "--quantization",
    ):
        assert word in said


def test_a_value_not_known_before_run_time_is_left_to_the_engine_and_said():
    start = job(launch(flag("--tp-size", "tp_size", "$N", unknown="N is not set")), UNKNOWN)
    assert start.options == ()
    assert "--tp-size: not known before run time (N is not set); the engine's default was used" in start.substituted


def test_the_context_is_short_but_holds_the_widest_tree_in_whole_pages():
    assert job(launch(), UNKNOWN).context == CONTEXT + 1
    assert job(launch(), settings(budget=1024)).context == CONTEXT + 1025
    assert job(launch(), settings(budget=1024, page_size=64)).context % 64 == 0


def test_only_what_the_launch_gives_is_told_to_the_engine():
    forced = replace(UNKNOWN, page_size=Value(name="page_size", value=64, origin="derived"))
    assert job(launch(), settings(page_size=16)).page_size is None
    assert job(launch(), forced).page_size == 64


def test_switches_of_the_engine_that_decide_a_shape_go_along():
    start = job(launch(SGLANG_RAGGED_VERIFY_MODE="compact", CUDA_VISIBLE_DEVICES="0"), UNKNOWN)
    assert start.environment == {"SGLANG_RAGGED_VERIFY_MODE": "compact"}


@pytest.mark.parametrize(("backend", "gathers"), [("deepep", True), ("none", False), (None, False)])
def test_experts_that_exchange_tokens_are_known_by_the_flag(backend: str | None, gathers: bool):
    flags = () if backend is None else (flag("--moe-a2a-backend", "moe_a2a_backend", backend),)
    assert job(launch(*flags), UNKNOWN).expert_gather is gathers


def test_drafts_under_attention_dp_are_not_run():
    assert job(launch(), settings(dp_attention=True)).draft_forwards == 0
    assert job(launch(), UNKNOWN).draft_forwards > 0


FLAGS = st.lists(
    st.builds(
        Flag,
        option=st.text(min_size=1),
        name=st.none() | st.sampled_from(sorted(KEPT)) | st.text(),
        values=st.lists(st.text(), max_size=3).map(tuple),
        unknown=st.sampled_from(["", "unset"]),
    ),
    max_size=8,
)


@given(FLAGS)
def test_any_launch_becomes_a_start_that_goes_to_json_and_back(flags: list[Flag]):
    start = job(launch(*flags), UNKNOWN)
    kept = [word for each in flags if each.name in KEPT and not each.unknown for word in (each.option, *each.values)]
    assert list(start.options) == kept
    again = Job(**json.loads(json.dumps(asdict(start))))
    assert asdict(again) == {**asdict(start), "options": kept, "substituted": list(start.substituted)}
