from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, event, given, settings
from hypothesis import strategies as st

from ddtree_doctor.contract.model import Settings
from ddtree_doctor.contract.settings import resolve
from ddtree_doctor.facts.model import Engine as EngineFacts
from ddtree_doctor.facts.model import Facts, Gpu, ModelConfig, Option
from ddtree_doctor.launch.model import Flag
from tests.contract.engine_rule import PLATFORMS, REFUSED, Engine
from tests.strategies import ALGORITHMS, JSON, facts

TINY = Path(__file__).parents[2] / "fixtures" / "models" / "tiny"
NEWEST = EngineFacts(
    options=(Option(name="enable_multi_layer_eagle", options=("--enable-multi-layer-eagle",), type="bool", arity="0"),),
    traits={"small_gpu_max_bs": (48, 160), "max_bs_capped_by_running": True, "gather_a2a": ("none",)},
)
TARGETS = ("qwen3", "llama", "mimo", "deepseek")
DRAFTS = {"EAGLE": "eagle", "EAGLE3": "eagle3", "STANDALONE": "standalone", "DFLASH": "dflash", "DSPARK": "dspark"}


def config(folder: str, **changes: Any) -> dict[str, Any]:
    return {**json.loads((TINY / folder / "config.json").read_text()), **changes}


@pytest.fixture(scope="session")
def targets(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Folders of tiny targets, by name."""
    llama = {"architectures": ["LlamaForCausalLM"], "model_type": "llama"}
    latent = {"kv_lora_rank": 16, "q_lora_rank": 16, "qk_rope_head_dim": 8, "qk_nope_head_dim": 8, "v_head_dim": 16}
    experts = {"n_routed_experts": 4, "n_shared_experts": 1, "num_experts_per_tok": 2, "moe_intermediate_size": 32}
    contents = {
        "qwen3": config("target"),
        "llama": config("target", **llama),
        "mimo": config("target-multi-layer-mtp"),
        "deepseek": config(
            "target", architectures=["DeepseekV3ForCausalLM"], model_type="deepseek_v3", **latent, **experts
        ),
    }
    folders = {name: tmp_path_factory.mktemp(name) for name in contents}
    for name, content in contents.items():
        (folders[name] / "config.json").write_text(json.dumps(content))
    return folders


def maybe(*words: str) -> st.SearchStrategy[list[str]]:
    return st.just([]) | st.just(list(words))


@st.composite
def command_lines(draw: st.DrawFn) -> list[str]:
    """What people give of ranks, graphs, pages, attention and speculation."""
    words = draw(
        st.sampled_from([[], ["--tp-size", "2"], ["--tp-size", "8"], ["--tp-size", "8", "--attn-dp-size", "2"]])
    )
    words = words + draw(maybe("--max-running-requests", str(draw(st.integers(1, 300)))))
    words += draw(maybe("--page-size", draw(st.sampled_from(["1", "16", "64"]))))
    words += draw(maybe("--attention-backend", draw(st.sampled_from(["triton", "fa3", "flashinfer"]))))
    words += draw(
        st.sampled_from(
            [
                [],
                ["--cuda-graph-max-bs-decode", str(draw(st.integers(1, 300)))],
                ["--cuda-graph-bs-decode", "1", "2", "24"],
                ["--disable-cuda-graph-padding", "--cuda-graph-max-bs-decode", "16"],
            ]
        )
    )
    algorithm = draw(st.sampled_from(["NONE", "EAGLE", "NEXTN", "EAGLE3", "STANDALONE", "NGRAM", "DFLASH", "DSPARK"]))
    return words + draw(speculative_words(algorithm))


@st.composite
def speculative_words(draw: st.DrawFn, algorithm: str) -> list[str]:
    if algorithm == "NONE":
        return []
    words = ["--speculative-algorithm", algorithm]
    if draft := DRAFTS.get("EAGLE" if algorithm == "NEXTN" else algorithm):
        words += ["--speculative-draft-model-path", str(TINY / draft)]
    steps, topk, tokens = (str(draw(st.integers(1, high))) for high in (8, 8, 40))
    numbers = {
        "NGRAM": maybe("--speculative-num-draft-tokens", tokens),
        "DFLASH": maybe("--speculative-dflash-block-size", steps) | maybe("--speculative-num-draft-tokens", tokens),
        "DSPARK": maybe("--speculative-dspark-block-size", steps),
    }
    chain = ["--speculative-num-steps", steps, "--speculative-eagle-topk", draw(st.sampled_from(["1", topk]))]
    stepped = st.just([]) | st.just([*chain, "--speculative-num-draft-tokens", tokens])
    return words + draw(numbers.get(algorithm, stepped))


def given_facts(words: list[str], target: Path, arch: str, memory: int) -> Facts:
    number = arch[3:]
    gpu = Gpu(name="x", capability=(int(number[:-1]), int(number[-1])), memory_mib=memory)
    draft = (
        words[words.index("--speculative-draft-model-path") + 1] if "--speculative-draft-model-path" in words else ""
    )
    read = json.loads((Path(draft) / "config.json").read_text()) if draft else None
    content = json.loads((target / "config.json").read_text())
    return facts(*words, target=content, draft=read, gpu=gpu, engine=NEWEST)


@pytest.mark.engine
@pytest.mark.slow
@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    words=command_lines(),
    target=st.sampled_from(TARGETS),
    arch=st.sampled_from(sorted(PLATFORMS)),
    memory=st.sampled_from([16_000, 24_564, 46_068, 81_559, 97_887, 143_771, 275_040]),
)
def test_the_settings_are_the_engines(
    engine: Engine, targets: dict[str, Path], words: list[str], target: str, arch: str, memory: int
) -> None:
    theirs = engine.ask(
        function="resolve", words=["--model-path", str(targets[target]), *words], arch=arch, memory=memory
    )
    event("refused" if theirs == REFUSED else "resolved")
    assume(theirs != REFUSED)
    mine = resolve(given_facts(words, targets[target], arch, memory))
    seen = {
        **speculative(mine),
        "attention_backend": mine.attention_backend.value,
        "page_size": mine.page_size.value,
        "max_running_requests": mine.max_running_requests.value,
        "tp_size": mine.tp.value,
        "attn_dp_size": mine.dp.value if mine.dp_attention.value else 1,
        "max_bs": mine.cuda_graph_max_bs.value,
        "bs": sorted(mine.cuda_graph_bs.need()),
    }
    assert seen == {**theirs, "bs": sorted(theirs["bs"])}, (words, mine.unknown())


def speculative(mine: Settings) -> dict[str, Any]:
    return {
        "speculative_algorithm": None if mine.algorithm.value == "NONE" else mine.algorithm.value,
        "speculative_num_draft_tokens": mine.num_draft_tokens.value,
        "speculative_num_steps": mine.num_steps.value,
        "speculative_eagle_topk": mine.topk.value,
        "enable_multi_layer_eagle": mine.multi_layer.value,
    }


UNO = ("--speculative-algorithm", "UNO", "--uno-lora-path", str(TINY / "uno-lora"), "--attention-backend", "fa3")
ASSISTED = ("--speculative-draft-model-path", str(TINY / "frozen-kv-mtp"))
NUMBERS = ("--speculative-num-steps", "3", "--speculative-eagle-topk", "1", "--speculative-num-draft-tokens", "4")
TREE = ("--speculative-num-steps", "3", "--speculative-eagle-topk", "4", "--speculative-num-draft-tokens", "9")


@pytest.mark.engine
@pytest.mark.parametrize(
    ("folder", "words"),
    [
        ("target", (*UNO, "--speculative-num-draft-tokens", "8")),
        ("target", (*UNO, *TREE)),
        ("target-gemma4", ("--speculative-algorithm", "NEXTN", *ASSISTED, *NUMBERS)),
        ("target-gemma4", ("--speculative-algorithm", "EAGLE", *ASSISTED, *NUMBERS)),
        ("target", ("--speculative-algorithm", "DFLASH", "--speculative-draft-model-path", str(TINY / "dflash"))),
        ("target-mtp", ("--speculative-algorithm", "NEXTN")),
        ("target-multi-layer-mtp", ("--speculative-algorithm", "EAGLE", *NUMBERS)),
    ],
    ids=["uno", "uno-tree", "frozen-kv-mtp", "frozen-kv-mtp-by-eagle", "dflash", "nextn", "multi-layer"],
)
def test_rarer_algorithms_resolve_as_in_the_engine(engine: Engine, folder: str, words: tuple[str, ...]) -> None:
    line = ["--model-path", str(TINY / folder), *words]
    for arch in ("sm_90", "sm_100"):
        theirs = engine.ask(function="resolve", words=line, arch=arch, memory=81_559)
        found = resolve(given_facts(list(words), TINY / folder, arch, 81_559))
        mine = {**speculative(found), "attention_backend": found.attention_backend.value}
        assert mine == {name: theirs[name] for name in mine}


FIELDS = (
    *("tp_size", "dp_size", "attn_dp_size", "attn_cp_size", "enable_dp_attention", "enable_two_batch_overlap"),
    *("moe_dense_tp_size", "moe_a2a_backend", "enable_dp_lm_head", "disable_attn_tp_gather", "page_size"),
    *("attention_backend", "speculative_attention_mode", "context_length", "max_running_requests", "cuda_graph_config"),
    *("cuda_graph_bs", "cuda_graph_max_bs", "disable_cuda_graph_padding", "speculative_num_steps"),
    *("speculative_num_draft_tokens", "speculative_eagle_topk", "speculative_ddtree_budget", "speculative_adaptive"),
    *("speculative_dflash_block_size", "enable_multi_layer_eagle", "disaggregation_mode", "dllm_algorithm"),
)
CONFIG_KEYS = ("architectures", "block_size", "rope_scaling", "kv_lora_rank", "layer_types", "sample_from_anchor")
WORD = st.sampled_from(["0", "1", "2", "8", "33", "-1", "none", "true", "deepep", "decode"]) | st.text(max_size=6)


@st.composite
def hostile(draw: st.DrawFn) -> Facts:
    """Any flags with any words, any configs, any GPU."""
    names = draw(st.lists(st.sampled_from(FIELDS), max_size=8))
    flags = [Flag(option="--x", name=n, values=tuple(draw(st.lists(WORD, max_size=3)))) for n in names]
    flags.append(Flag(option="--x", name="speculative_algorithm", values=(draw(st.sampled_from(ALGORITHMS)),)))
    gpu = Gpu(name="x", capability=draw(st.none() | st.just((9, 0))), memory_mib=draw(st.none() | st.integers()))
    case = facts(gpu=gpu, engine=draw(st.sampled_from([NEWEST, EngineFacts()])))
    values = st.dictionaries(st.sampled_from(CONFIG_KEYS), JSON)
    configs = [ModelConfig(name="m", values=draw(values)) for _ in range(2)]
    launch = replace(case.launch, flags=tuple(flags))
    return replace(case, launch=launch, target=configs[0], draft=draw(st.none() | st.just(configs[1])))


@given(hostile())
def test_no_launch_makes_resolving_raise_and_what_is_unknown_says_why(case: Facts) -> None:
    assert all(resolve(case).unknown().values())


def test_the_context_is_given_or_the_targets() -> None:
    assert resolve(facts(target={"max_position_embeddings": 4096})).context_length.value == 4096
    assert resolve(facts("--context-length", "1024", target={})).context_length.value == 1024
    assert "not there" in resolve(facts()).context_length.why
