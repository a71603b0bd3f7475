from dataclasses import replace

import pytest

from ddtree_doctor.contract.build import build
from ddtree_doctor.errors import UsageError
from ddtree_doctor.examination import Plan, deepest, probed
from ddtree_doctor.facts.host import read_host
from ddtree_doctor.facts.model import Gpu
from ddtree_doctor.facts.read import read_facts
from ddtree_doctor.facts.shipped import shipped_engine
from ddtree_doctor.launch import read_command
from ddtree_doctor.ledger import Ledger
from ddtree_doctor.probe import replay, replay_gpu, shape
from ddtree_doctor.replay.record import Behaviour
from ddtree_doctor.rule import Case

ROOT = "/site-packages/sglang"
H200 = Gpu(name="NVIDIA H200", capability=(9, 0), memory_mib=143771)
ABSENT = replace(read_host("H100"), gpus=(), source="none", unknown={"gpus": "no NVIDIA driver answers"})
NAMED = read_host("H100")
THERE = replace(ABSENT, gpus=(H200,), source="nvml")
COMMAND = (
    "python -m sglang.launch_server --model-path Qwen/Qwen3-8B --speculative-algorithm NGRAM "
    "--speculative-num-draft-tokens 8"
)


def facts(host, **engine):
    known = replace(shipped_engine("0.5.23"), root=ROOT)
    return read_facts(read_command(COMMAND.split(), known.options), host, replace(known, **engine))


@pytest.mark.parametrize(("host", "tier"), [(ABSENT, "replay-cpu"), (NAMED, "replay-cpu"), (THERE, "replay-gpu")])
def test_a_gpu_is_replayed_on_where_it_is_this_machine_s_own(host, tier):
    assert deepest(facts(host), ROOT) == tier


@pytest.mark.parametrize(
    "engine", [{"root": None}, {"root": "/elsewhere/sglang"}, {"layout": ""}, {"unknown": {"a": "b"}}]
)
def test_an_engine_that_this_interpreter_would_not_import_is_only_read(engine):
    assert deepest(facts(THERE, **engine), ROOT) == "static"


@pytest.mark.parametrize(("host", "why"), [(ABSENT, "no NVIDIA driver answers"), (NAMED, "--gpu names other GPUs")])
def test_the_gpu_tier_without_that_gpu_is_refused_before_any_engine_starts(host, why):
    with pytest.raises(UsageError, match=why):
        probed([facts(host)], Plan(tier="replay-gpu"))


@pytest.fixture
def probes(monkeypatch):
    """A behaviour of each host, in place of the processes that see them; and which were asked."""
    asked = []

    def seen(host):
        one = Behaviour(
            host=host, algorithm="NGRAM", role="target_verify", backend="triton", dtype="float32", page_size=1, width=8
        )

        def behave(*_, **__):
            asked.append(host)
            return (one,)

        return behave

    monkeypatch.setattr(shape, "observe", lambda *_, **__: Ledger(algorithm="NGRAM"))
    monkeypatch.setattr(replay, "behave_roles", seen("cpu"))
    monkeypatch.setattr(replay_gpu, "behave_gpu", seen("gpu"))
    return asked


@pytest.mark.parametrize(
    ("tier", "hosts"), [("static", []), ("shape", []), ("replay-cpu", ["cpu"]), ("replay-gpu", ["cpu", "gpu"])]
)
def test_each_tier_runs_the_probes_up_to_its_own(tier, hosts, probes):
    (case,) = probed([facts(THERE)], Plan(tier=tier))
    assert probes == hosts
    assert [one.host for one in (case.ledger.behaviours if case.ledger else ())] == hosts


def test_a_case_keeps_what_it_was_made_of(probes):
    given = facts(THERE)
    assert probed([given], Plan(tier="static")) == (Case(facts=given, contract=build(given)),)
