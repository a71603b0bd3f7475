from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ddtree_doctor.contract.attention import attention_backend, page_size
from ddtree_doctor.contract.given import Given
from ddtree_doctor.facts.model import Engine, Gpu
from ddtree_doctor.knowledge import Value
from tests.strategies import facts

DENSE = {"architectures": ["Qwen3ForCausalLM"]}
DEEPSEEK = {"architectures": ["DeepseekV3ForCausalLM"], "kv_lora_rank": 512}
SPARSE = {**DEEPSEEK, "index_topk": 2048}
LATENT = {"architectures": ["MiniCPM3ForCausalLM"], "kv_lora_rank": 256}


def gpu(arch: str) -> Gpu:
    number = arch.removeprefix("sm_")
    return Gpu(name="x", capability=(int(number[:-1]), int(number[-1])))


def algorithm(name: str) -> Value[str]:
    return Value(name="algorithm", value=name, origin="given")


def backend(arch: str, name: str, *words: str, target: dict[str, Any] | None = DENSE) -> Value[str]:
    return attention_backend(Given(facts(*words, target=target, gpu=gpu(arch))), algorithm(name))


@pytest.mark.parametrize(
    ("arch", "name", "words", "expected"),
    [
        ("sm_90", "NONE", (), "fa3"),
        ("sm_90", "EAGLE", ("--speculative-eagle-topk", "1"), "fa3"),
        ("sm_90", "EAGLE", ("--speculative-eagle-topk", "4"), "flashinfer"),
        ("sm_90", "EAGLE", ("--speculative-eagle-topk", "1", "--page-size", "64"), "flashinfer"),
        ("sm_100", "NONE", (), "trtllm_mha"),
        ("sm_103", "DFLASH", (), "trtllm_mha"),
        ("sm_103", "EAGLE", (), "flashinfer"),
        ("sm_100", "EAGLE", ("--speculative-eagle-topk", "1"), "trtllm_mha"),
        ("sm_120", "DFLASH", (), "flashinfer"),
        ("sm_89", "NONE", (), "flashinfer"),
    ],
)
def test_the_default_of_multi_head_attention_follows_gpu_and_topk(
    arch: str, name: str, words: tuple[str, ...], expected: str
) -> None:
    assert backend(arch, name, *words).value == expected


@pytest.mark.parametrize(
    ("arch", "target", "expected"),
    [
        ("sm_90", DEEPSEEK, "fa3"),
        ("sm_100", DEEPSEEK, "trtllm_mla"),
        ("sm_120", DEEPSEEK, "triton"),
        ("sm_90", SPARSE, "dsa"),
        ("sm_100", LATENT, "flashinfer"),
        ("sm_120", {"architectures": ["GptOssForCausalLM"]}, "triton"),
        ("sm_90", {"architectures": ["DeepseekV4ForCausalLM"]}, "dsv4"),
    ],
)
def test_architectures_choose_their_own_default(arch: str, target: dict[str, Any], expected: str) -> None:
    assert backend(arch, "NONE", target=target).value == expected


def test_what_an_architecture_decides_by_more_than_the_gpu_is_unknown() -> None:
    found = backend("sm_100", "NONE", target={"architectures": ["NemotronHForCausalLM"]})
    assert "chooses it by itself" in found.why


def test_a_hybrid_qwen_on_blackwell_takes_what_speculation_allows() -> None:
    target = {"architectures": ["Qwen3NextForCausalLM"]}
    assert "caches its state" in backend("sm_100", "NONE", target=target).why
    assert backend("sm_100", "EAGLE", "--speculative-eagle-topk", "1", target=target).value == "trtllm_mha"
    assert backend("sm_100", "EAGLE", "--speculative-eagle-topk", "4", target=target).value == "triton"
    assert backend("sm_90", "NONE", target=target).value == "fa3"


def test_the_defaults_of_older_releases_are_not_guessed() -> None:
    case = facts(target=DENSE, gpu=gpu("sm_90"), engine=Engine(layout="width-hook"))
    assert "older release" in attention_backend(Given(case), algorithm("NONE")).why


def test_without_gpu_or_config_the_default_is_unknown() -> None:
    nowhere = attention_backend(Given(facts(target=DENSE)), algorithm("NONE"))
    assert "GPU's architecture" in nowhere.why
    assert "not there" in backend("sm_90", "NONE", target=None).why


def test_mixed_gpus_leave_the_default_unknown() -> None:
    case = facts(target=DENSE)
    case = replace(case, host=replace(case.host, gpus=(gpu("sm_90"), gpu("sm_100"))))
    assert not attention_backend(Given(case), algorithm("NONE")).known


SPLIT = ("--prefill-attention-backend", "fa3", "--decode-attention-backend", "flashmla")


@pytest.mark.parametrize(
    ("name", "words", "expected"),
    [
        ("NONE", SPLIT, "flashmla"),
        ("EAGLE", SPLIT, "fa3"),
        ("EAGLE", (*SPLIT, "--speculative-attention-mode", "decode"), "flashmla"),
        ("EAGLE", ("--attention-backend", "triton"), "triton"),
        ("EAGLE", ("--attention-backend", "triton", "--decode-attention-backend", "fa3"), "triton"),
    ],
)
def test_verify_runs_on_the_side_that_its_mode_names(name: str, words: tuple[str, ...], expected: str) -> None:
    assert backend("sm_90", name, *words).value == expected


@pytest.mark.parametrize(
    ("words", "expected", "origin"),
    [
        ((), 1, "default"),
        (("--page-size", "16"), 16, "given"),
        (("--attention-backend", "trtllm_mha"), 64, "forced"),
        (("--attention-backend", "trtllm_mha", "--page-size", "32"), 32, "given"),
        (("--attention-backend", "trtllm_mla", "--page-size", "16"), 64, "forced"),
        (("--attention-backend", "triton", "--decode-attention-backend", "flashmla"), 64, "forced"),
        (("--attention-backend", "fa4"), 128, "forced"),
        (("--attention-backend", "fa4", "--speculative-eagle-topk", "4"), 1, "default"),
    ],
)
def test_the_backend_has_a_say_in_the_page_size(words: tuple[str, ...], expected: int, origin: str) -> None:
    given = Given(facts(*words, target=DENSE, gpu=gpu("sm_100")))
    found = attention_backend(given, algorithm("EAGLE"))
    page = page_size(given, found)
    assert (page.value, page.origin) == (expected, origin)


def test_a_given_page_size_counts_where_the_backend_is_unknown() -> None:
    for words, known in (((), False), (("--page-size", "64"), True)):
        given = Given(facts(*words, target=DENSE))
        assert page_size(given, attention_backend(given, algorithm("NONE"))).known is known
