"""Every condition of a signature must hold; each kind of condition is tried by itself."""

from dataclasses import replace

import pytest

from ddtree_doctor.triage.catalogue import Signature
from ddtree_doctor.triage.match import matches
from tests.triage.logs import ARGS, IMA, SIZES, subject, traceback

PLAIN = Signature(id="x", weight="weak", means="x", sources=("https://x",), example=(), near_miss=())
FOUNDING = subject(ARGS, "sglang version: 0.5.15", "/x.py:1: UserWarning: beware", *traceback(SIZES))
DEVICE = subject(*traceback(IMA))


@pytest.mark.parametrize(
    ("conditions", "other"),
    [
        (dict(text=("size of tensor a",)), dict(text=("size of tensor z",))),
        (dict(text_all=("size", "tensor")), dict(text_all=("size", "nope"))),
        (dict(without=("nope",)), dict(without=("size",))),
        (dict(near=("beware",)), dict(near=("size of tensor",))),
        (dict(exception=("RuntimeError",)), dict(exception=("ValueError",))),
        (dict(frames=("replay_prepare",)), dict(frames=("capture",))),
        (dict(frames_all=("replay_prepare", "scheduler")), dict(frames_all=("replay_prepare", "nope"))),
        (dict(phase=("replay",)), dict(phase=("capture",))),
        (dict(reading=("width",)), dict(reading=("batch",))),
        (dict(engine=("sglang",)), dict(engine=("vllm",))),
        (dict(config={"speculative_algorithm": "=ddtree"}), dict(config={"speculative_algorithm": "=EAGLE"})),
        (dict(config={"speculative_algorithm": "~TREE$"}), dict(config={"speculative_algorithm": "~^TREE"})),
        (dict(config={"tp_size": ">1"}), dict(config={"tp_size": ">8"})),
        (dict(config={"tp_size": "<9"}), dict(config={"tp_size": "<8"})),
        (dict(config={"tp_size": "set"}), dict(config={"tp_size": "unset"})),
        (dict(config={"nope": "unset"}), dict(config={"nope": "set"})),
        (dict(config={"nope|tp_size": "set"}), dict(config={"nope|nope2": "set"})),
        (dict(package="sglang", versions="<0.5.16"), dict(package="sglang", versions=">=0.5.16")),
        (dict(stalled=True), dict(milestone=("slept",))),
    ],
)
def test_a_condition_holds_or_does_not(conditions, other):
    assert matches(replace(PLAIN, **conditions), FOUNDING)
    assert not matches(replace(PLAIN, **other), FOUNDING)


def test_device_kinds():
    assert matches(replace(PLAIN, device=("ima",)), DEVICE)
    assert not matches(replace(PLAIN, device=("oom",)), DEVICE)


def test_all_conditions_must_hold():
    assert not matches(replace(PLAIN, text=("size of tensor a",), phase=("capture",)), FOUNDING)


def test_scope_does_not_exclude_where_the_log_does_not_tell():
    assert matches(replace(PLAIN, backend=("fa3",), package="flashinfer", versions="<0.2"), FOUNDING)


def test_scope_excludes_another_backend():
    told = subject("server_args=ServerArgs(model_path='x', attention_backend='triton')", *traceback(SIZES))

    assert not matches(replace(PLAIN, backend=("fa3",)), told)
