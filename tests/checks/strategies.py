"""Cases as hostile as their types allow: any value unknown, unset, zero, negative or huge; configs of any JSON."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, get_args, get_type_hints

from hypothesis import strategies as st

from ddtree_doctor.contract.build import build
from ddtree_doctor.contract.model import Contract, RoleContract, Settings
from ddtree_doctor.facts.model import Engine, Facts, Gpu, Host, ModelConfig, Option, Package
from ddtree_doctor.knowledge import Value
from ddtree_doctor.launch.model import Flag, Launch, Location
from ddtree_doctor.ledger import Buffer, Captured, Ledger, Row
from ddtree_doctor.rule import Case
from tests.strategies import ALGORITHMS, JSON

__all__ = ["built_cases", "cases", "invented_cases", "plausible_cases"]

BACKENDS = ("triton", "flashinfer", "fa3", "fa4", "trtllm_mha", "trtllm_mla", "flex_attention", "hpc_ops", "dsv4", "x")
LAYOUTS = ("", "captured-req-width", "width-hook", "num-tokens-per-bs", "not-a-layout")
ROLES = ("decode", "target_verify", "draft", "draft_extend", "draft_extend_1")
VERSIONS = ("0.5.10", "0.5.23", "0.5.16.post1", "0.6.12", "2.14.1+cu130", "not a version", "", "0.0.0.dev1+g12")
WORDS = (
    "",
    "0",
    "1",
    "8",
    "33",
    "-1",
    "true",
    "prefill",
    "eight",
    "1e9",
    "0.9",
    "9" * 30,
    "²",
    "nan",
    "{",
    '{"decode": 1}',
)
FIELDS = (
    "speculative_algorithm",
    "speculative_num_draft_tokens",
    "speculative_num_steps",
    "speculative_eagle_topk",
    "speculative_ddtree_budget",
    "speculative_dflash_tree_budget",
    "speculative_dflash_block_size",
    "speculative_dspark_block_size",
    "speculative_draft_model_path",
    "speculative_draft_window_size",
    "speculative_ngram_max_bfs_breadth",
    "speculative_adaptive",
    "speculative_token_map",
    "uno_lora_path",
    "tp_size",
    "dp_size",
    "attn_dp_size",
    "attn_cp_size",
    "pp_size",
    "nnodes",
    "enable_dp_attention",
    "enable_dp_lm_head",
    "enable_two_batch_overlap",
    "moe_dense_tp_size",
    "moe_a2a_backend",
    "attention_backend",
    "decode_attention_backend",
    "prefill_attention_backend",
    "page_size",
    "context_length",
    "max_running_requests",
    "mem_fraction_static",
    "chunked_prefill_size",
    "cuda_graph_max_bs_decode",
    "cuda_graph_bs_decode",
    "disable_cuda_graph",
    "disaggregation_mode",
    "cuda_graph_config",
)
KEYS = (
    "architectures",
    "model_type",
    "hidden_size",
    "target_hidden_size",
    "vocab_size",
    "draft_vocab_size",
    "max_position_embeddings",
    "num_hidden_layers",
    "num_loops",
    "num_target_layers",
    "target_layer_ids",
    "dflash_config",
    "eagle_config",
    "block_size",
    "dspark_block_size",
    "rope_scaling",
    "kv_lora_rank",
    "text_config",
)
ENVIRONMENT = (
    "SGLANG_ENABLE_OVERLAP_PLAN_STREAM",
    "SGLANG_ALLOW_OVERWRITE_LONGER_CONTEXT_LEN",
    "SGLANG_RAGGED_VERIFY_MODE",
    "SGLANG_PREP_IN_CUDA_GRAPH",
)

numbers = st.integers(-2, 70) | st.sampled_from([1, 2, 8, 33, 128, 4096, 262144, 1 << 62])
names = st.sampled_from(ALGORITHMS) | st.sampled_from(BACKENDS) | st.text(max_size=6)
archs = st.sampled_from(["sm_75", "sm_90a", "sm_100f", "sm_103", "compute_80", "sm_120", "nonsense", ""])


def chosen(pool: tuple[str, ...], values: st.SearchStrategy[Any], most: int = 8) -> st.SearchStrategy[dict[str, Any]]:
    """A mapping from some of `pool` to `values`."""
    return st.dictionaries(st.sampled_from(pool), values, max_size=most)


locations = st.builds(Location, file=st.none() | st.just("a.sh"), line=st.none() | st.integers(1, 9))
flags = st.builds(
    Flag,
    option=st.sampled_from(FIELDS).map(lambda name: f"--{name.replace('_', '-')}") | st.just("--strange"),
    name=st.none() | st.sampled_from(FIELDS),
    values=st.lists(st.sampled_from(WORDS) | names, max_size=3).map(tuple),
    location=locations,
    unknown=st.just("") | st.just("known at run time"),
)
plain_launches = st.builds(
    Launch,
    command=st.just("sglang serve"),
    location=locations,
    flags=st.lists(flags, max_size=12).map(tuple),
    environment=chosen(ENVIRONMENT, st.sampled_from(WORDS), 3),
    unknown=chosen(FIELDS, st.just("a placeholder"), 2),
)
launches = st.builds(
    lambda launch, intended: Launch(
        command=launch.command,
        location=launch.location,
        flags=launch.flags,
        environment=launch.environment,
        unknown=launch.unknown,
        intended=intended,
    ),
    plain_launches,
    st.none() | plain_launches,
)
configs = st.builds(
    ModelConfig,
    name=st.just("model"),
    values=chosen(KEYS, numbers | JSON | chosen(KEYS, numbers | JSON, 3) | st.lists(numbers | JSON, max_size=4), 10),
    unknown=st.just("") | st.just("") | st.just("not there"),
)
gpus = st.builds(
    Gpu,
    name=st.just("a GPU"),
    capability=st.none() | st.sampled_from([(7, 5), (8, 9), (9, 0), (10, 0), (10, 3), (12, 0), (12, 1)]),
    memory_mib=st.none() | st.sampled_from([0, 24576, 98304, 294912]),
)
packages = st.builds(
    Package,
    name=st.sampled_from(["torch", "sglang-kernel", "flashinfer-python"]),
    version=st.sampled_from(VERSIONS),
    archs=st.none() | st.lists(archs, max_size=4).map(tuple),
)
hosts = st.builds(
    Host,
    python=st.just("3.11"),
    platform=st.just("linux"),
    gpus=st.lists(gpus, max_size=3).map(tuple),
    source=st.sampled_from(["nvml", "--gpu", "none"]),
    driver=st.none() | st.sampled_from(["550.1", "580.65.06", "", "x"]),
    packages=st.lists(packages, max_size=4).map(lambda found: {package.name: package for package in found}),
)
options = st.builds(
    Option,
    name=st.sampled_from(FIELDS),
    options=st.sampled_from(FIELDS).map(lambda name: (f"--{name.replace('_', '-')}",)),
    type=st.sampled_from(["int", "float", "str", "bool", "json"]),
    choices=st.none() | st.lists(names, max_size=3).map(tuple),
    default=st.none() | numbers | st.booleans() | names,
    default_known=st.booleans(),
    deprecated=st.just("") | st.just("use another"),
)
engines = st.builds(
    Engine,
    version=st.none() | st.sampled_from(VERSIONS),
    fork=st.booleans(),
    layout=st.sampled_from(LAYOUTS),
    algorithms=st.lists(st.sampled_from(ALGORITHMS), max_size=6).map(tuple),
    plugins=st.lists(st.just("DDTREE"), max_size=1).map(tuple),
    options=st.lists(options, max_size=6).map(tuple),
    pins=chosen(("torch", "sglang-kernel"), st.sampled_from(["==2.14.1", ">=1", "nonsense", ""]), 2),
    traits=st.fixed_dictionaries(
        {},
        optional={
            "width_by_hook": st.lists(st.sampled_from(ALGORITHMS), max_size=3).map(tuple),
            "verify_overrides": st.dictionaries(st.sampled_from(ALGORITHMS), st.just("budget + 1"), max_size=1),
            "paged_tree_backends": st.lists(st.sampled_from(BACKENDS), max_size=3).map(tuple),
            "gather_a2a": st.just(("none", "flashinfer")),
            "attn_tp_gather_opt_out": st.booleans(),
            "draft_extend": st.sampled_from(["steps+1", "draft_tokens"]),
        },
    ),
    mask_references=chosen((*BACKENDS, "flashinfer_mla"), st.integers(0, 9), 6),
    unknown=st.just("") | st.just("not installed"),
)
facts = st.builds(Facts, host=hosts, engine=engines, launch=launches, target=configs, draft=st.none() | configs)


def value(name: str, inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Value[Any]]:
    """A Value that is known, known to be unset, or unknown."""
    return st.one_of(
        st.builds(Value, name=st.just(name), value=inner, origin=st.just("given")),
        st.just(Value(name=name, origin="default")),
        st.just(Value(name=name, why="nobody said")),
    )


INNER: dict[Any, st.SearchStrategy[Any]] = {
    int: numbers,
    bool: st.booleans(),
    str: names,
    tuple[int, ...]: st.lists(numbers, max_size=5).map(tuple),
}


def values_of(kind: type, skip: tuple[str, ...] = ()) -> dict[str, st.SearchStrategy[Any]]:
    """A strategy for each field of `kind` that is a Value, by its type."""
    hints = get_type_hints(kind)
    wanted = [f.name for f in fields(kind) if f.name not in skip]
    return {name: value(name, INNER[get_args(hints[name])[0]]) for name in wanted if get_args(hints[name])}


settings = st.builds(Settings, **values_of(Settings))
roles = st.builds(
    RoleContract,
    algorithm=st.sampled_from(ALGORITHMS),
    role=st.sampled_from(ROLES),
    worker=st.sampled_from(["target", "draft"]),
    aligned_budgets=st.lists(st.integers(0, 99), max_size=2).map(tuple),
    **values_of(RoleContract, skip=("algorithm", "role", "worker", "aligned_budgets")),
)
contracts = st.builds(Contract, settings=settings, roles=st.lists(roles, max_size=3).map(tuple))

INPUTS = ("configured", "pool", "attn_tp", "attn_cp", "gather", "two_batch_overlap", "width")
ranks = st.integers(0, 16)
capture_inputs = st.fixed_dictionaries(
    {
        "configured": st.lists(st.integers(0, 64), max_size=5),
        "pool": st.integers(0, 64),
        "attn_tp": ranks,
        "attn_cp": ranks,
        "gather": st.booleans(),
        "two_batch_overlap": st.booleans(),
        "width": st.integers(0, 65),
    }
)
shapes = st.lists(st.integers(0, 5000), max_size=3).map(tuple)
rows = st.builds(
    Row,
    algorithm=st.sampled_from(ALGORITHMS),
    role=st.sampled_from(ROLES),
    worker=st.sampled_from(["target", "draft"]),
    mode=st.sampled_from(["", "DECODE", "TARGET_VERIFY", "DRAFT_EXTEND_V2"]),
    tokens_per_bs=st.none() | numbers,
    capture_bs=st.lists(numbers, max_size=4).map(tuple),
    mul_base=st.none() | numbers,
    gate_width=st.none() | numbers,
    dummy_width=st.none() | numbers,
    inputs=chosen(INPUTS, JSON, 7) | capture_inputs,
    captured=st.lists(
        st.builds(
            Captured,
            bs=numbers,
            tokens=numbers,
            key=st.sampled_from(["", "ShapeKey(size=1)", "1", "x"]),
            logits_rows=st.none() | numbers,
            mask_numel=st.none() | numbers,
            inputs=chosen(("input_ids", "positions", "out_cache_loc"), shapes, 3),
        ),
        max_size=3,
    ).map(tuple),
    buffers=st.lists(
        st.builds(
            Buffer,
            name=st.sampled_from(["input_ids", "custom_mask", "out_cache_loc", "next_token_logits_buffer", "x"]),
            shape=shapes,
            dtype=st.just("int64"),
            bytes=st.integers(0, 1 << 40),
            owner=st.sampled_from(["DecodeInputBuffers", "EagleDraftInputBuffers", "TritonAttnBackend", "x"]),
        ),
        max_size=4,
    ).map(tuple),
    unknown=st.just("") | st.just("") | st.just("not built"),
)
ledgers = st.builds(
    Ledger,
    algorithm=st.sampled_from(ALGORITHMS),
    rows=st.lists(rows, max_size=3).map(tuple),
    sizes=chosen(("steps", "topk", "context_len", "vocab_size", "pool_size", "draft_tokens"), numbers | st.none(), 6),
    unknown=st.just("") | st.just("") | st.just("killed by SIGKILL"),
)

invented_cases = st.builds(Case, facts=facts, contract=contracts, ledger=st.none() | ledgers)
"""Facts, contract and ledger that have nothing to do with one another."""

built_cases = facts.map(lambda found: Case(facts=found, contract=build(found)))
"""Facts with the contract that is built from them."""

COUNTS = tuple(
    name for name in FIELDS if name.endswith(("_size", "_tokens", "_steps", "_topk", "_budget", "_requests"))
)
counts = st.sampled_from([1, 2, 3, 4, 8, 16, 32, 33, 48, 2048, 8192])
SPOKEN = {
    **dict.fromkeys(COUNTS, counts.map(str)),
    "speculative_algorithm": st.sampled_from(ALGORITHMS),
    "speculative_draft_model_path": st.just("some/draft"),
    "uno_lora_path": st.just("some/lora"),
    "nnodes": st.sampled_from(["1", "2"]),
    "context_length": counts.map(str),
    "cuda_graph_max_bs_decode": counts.map(str),
    "moe_a2a_backend": st.sampled_from(["none", "deepep", "flashinfer"]),
    "disaggregation_mode": st.sampled_from(["null", "prefill", "decode"]),
    "mem_fraction_static": st.sampled_from(["0.5", "0.98", "0.9999", "2"]),
    **dict.fromkeys(
        ("attention_backend", "decode_attention_backend", "prefill_attention_backend"), st.sampled_from(BACKENDS)
    ),
}
SWITCHES = ("enable_dp_attention", "enable_dp_lm_head", "enable_two_batch_overlap", "disable_cuda_graph")
HELD = {
    **dict.fromkeys(("hidden_size", "vocab_size", "num_hidden_layers", "num_target_layers", "block_size"), counts),
    "target_hidden_size": counts,
    "draft_vocab_size": counts,
    "max_position_embeddings": counts,
    "num_loops": st.integers(1, 2),
    "dflash_config": st.fixed_dictionaries({"target_layer_ids": st.lists(st.integers(0, 40), max_size=4)}),
    "architectures": st.sampled_from(
        [["LlamaForCausalLM"], ["DeepseekV3ForCausalLM"], ["KimiK25ForConditionalGeneration"]]
    ),
    "kv_lora_rank": st.just(512),
    "model_type": st.sampled_from(["llama", "kimi_k25", "gpt_oss", "deepseek_v4"]),
}


def some_of(strategies: dict[str, st.SearchStrategy[Any]], always: set[str]) -> st.SearchStrategy[dict[str, Any]]:
    """A mapping of some of the keys, and `always` of those."""
    return st.fixed_dictionaries(
        {name: strategy for name, strategy in strategies.items() if name in always},
        optional={name: strategy for name, strategy in strategies.items() if name not in always},
    )


def spoken(words: dict[str, str], switches: set[str]) -> tuple[Flag, ...]:
    """Well-formed flags."""
    valued = [Flag(option=f"--{name.replace('_', '-')}", name=name, values=(word,)) for name, word in words.items()]
    return (*valued, *(Flag(option=f"--{name.replace('_', '-')}", name=name) for name in sorted(switches)))


plausible_launches = st.builds(
    lambda words, switches, environment: Launch(
        command="sglang serve", flags=spoken(words, switches), environment=environment
    ),
    some_of(SPOKEN, {"speculative_algorithm", "attention_backend", "cuda_graph_max_bs_decode", "max_running_requests"}),
    st.sets(st.sampled_from(SWITCHES), max_size=2),
    chosen(ENVIRONMENT, st.sampled_from(["1", "0", "compact"]), 2),
)
plausible_configs = st.builds(
    ModelConfig,
    name=st.just("model"),
    values=some_of(HELD, {"architectures", "hidden_size", "vocab_size", "max_position_embeddings"}),
)
plausible_engines = st.builds(
    Engine,
    version=st.sampled_from(["0.5.10", "0.5.16", "0.5.23"]),
    fork=st.booleans(),
    layout=st.sampled_from(LAYOUTS[1:4]),
    algorithms=st.just(ALGORITHMS) | st.just(ALGORITHMS[:5]),
    options=st.lists(options, min_size=1, max_size=3).map(tuple),
    mask_references=st.fixed_dictionaries(dict.fromkeys((*BACKENDS, "flashinfer_mla"), st.sampled_from([0, 0, 7]))),
    traits=st.fixed_dictionaries(
        {"width_by_hook": st.sampled_from([(), ("DDTREE",)]), "gather_a2a": st.just(("none",))}
    ),
)
plausible_gpus = st.builds(
    lambda gpu, count: (gpu,) * count,
    st.builds(
        Gpu,
        name=st.just("a GPU"),
        capability=st.sampled_from([(8, 0), (9, 0), (10, 3), (12, 0)]),
        memory_mib=st.sampled_from([24576, 98304]),
    ),
    st.sampled_from([1, 4, 8]),
)
plausible_facts = st.builds(
    Facts,
    host=st.builds(
        Host,
        python=st.just("3.11"),
        platform=st.just("linux"),
        gpus=plausible_gpus,
        source=st.sampled_from(["nvml", "--gpu"]),
        driver=st.sampled_from(["550.1", "580.65.06"]),
        packages=st.lists(packages, max_size=3).map(lambda found: {package.name: package for package in found}),
    ),
    engine=plausible_engines,
    launch=plausible_launches,
    target=plausible_configs,
    draft=st.none() | plausible_configs,
)
plausible_cases = plausible_facts.map(lambda found: Case(facts=found, contract=build(found)))
"""Well-formed launches, configs and engines that are wrong for one another in every way there is a rule for."""

cases = invented_cases | built_cases | plausible_cases
