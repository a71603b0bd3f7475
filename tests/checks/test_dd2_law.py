"""A ledger that is what the contract demands is clean; one step downwards fires exactly the rule responsible."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ddtree_doctor.checks import rules
from ddtree_doctor.contract.buffers import DEMANDS, extents
from ddtree_doctor.contract.buffers.table import demands
from ddtree_doctor.contract.capture import capture, mul_base
from ddtree_doctor.contract.model import Contract, RoleContract, Settings
from ddtree_doctor.facts.model import Engine, Facts, Host, ModelConfig
from ddtree_doctor.judge import judge
from ddtree_doctor.knowledge import Value
from ddtree_doctor.launch.model import Launch
from ddtree_doctor.ledger import Buffer, Captured, Ledger, Row
from ddtree_doctor.rule import Case

SHAPE = tuple(rule for rule in rules() if rule.code.startswith("DD2"))
OWNERS = {
    # algorithm, role -> the classes whose buffers that role's runner has
    ("DDTREE", "target_verify"): ("DecodeInputBuffers", "TritonAttnBackend", "VerifyMask", "ReqToTokenPool"),
    ("DDTREE", "draft"): ("DecodeInputBuffers", "TritonAttnBackend"),
    ("EAGLE", "target_verify"): ("DecodeInputBuffers", "TritonAttnBackend", "VerifyMask", "ReqToTokenPool"),
    ("EAGLE", "draft"): ("EagleDraftInputBuffers", "EAGLEDraftCudaGraphRunner", "TritonMultiStepDraftBackend"),
    ("EAGLE", "draft_extend"): ("EagleDraftExtendInputBuffers", "TritonAttnBackend"),
    ("NONE", "decode"): ("DecodeInputBuffers", "TritonAttnBackend", "ReqToTokenPool"),
}
MODES = {"decode": "DECODE", "target_verify": "TARGET_VERIFY", "draft_extend": "DRAFT_EXTEND_V2"}
KIND_RULES = {
    "rows": "DD208",
    "mask": "DD209",
    "metadata": "DD210",
    "steps": "DD211",
    "logits": "DD212",
    "headroom": "DD220",
}


@dataclass(frozen=True)
class World:
    """One launch: what it captures from, and how wide each role is."""

    algorithm: str
    widths: dict[str, int]
    configured: tuple[int, ...]
    pool: int
    attn_tp: int
    attn_cp: int
    gather: bool
    two_batch_overlap: bool
    sizes: dict[str, int]

    def contract(self) -> Contract:
        unknown = {f.name: Value(name=f.name, why="not part of the law") for f in fields(Settings)}
        settings = Settings(**(unknown | {"algorithm": Value(name="algorithm", value=self.algorithm, origin="given")}))
        return Contract(settings=settings, roles=tuple(self.role(role, width) for role, width in self.widths.items()))

    def role(self, role: str, width: int) -> RoleContract:
        listed = self.captured(width)
        return RoleContract(
            algorithm=self.algorithm,
            role=role,
            worker="draft" if role.startswith("draft") else "target",
            width=Value(name="width", value=width, origin="derived"),
            mul_base=Value(name="mul_base", value=listed.base, origin="derived"),
            capture_bs=Value(name="capture_bs", value=listed.sizes, origin="derived"),
            lost_bs=Value(name="lost_bs", value=listed.lost, origin="derived"),
        )

    def captured(self, width: int):
        base = mul_base(
            two_batch_overlap=self.two_batch_overlap, gather=self.gather, attn_tp=self.attn_tp, attn_cp=self.attn_cp
        )
        return capture(
            self.configured, pool=self.pool, width=width, base=base, two_batch_overlap=self.two_batch_overlap
        )

    def ledger(self) -> Ledger:
        rows = tuple(self.row(role, width) for role, width in self.widths.items())
        return Ledger(algorithm=self.algorithm, rows=rows, sizes=self.sizes)

    def row(self, role: str, width: int) -> Row:
        listed = self.captured(width)
        inputs = {
            "configured": self.configured,
            "pool": self.pool,
            "attn_tp": self.attn_tp,
            "attn_cp": self.attn_cp,
            "gather": self.gather,
            "two_batch_overlap": self.two_batch_overlap,
            "width": width,
        }
        bare = Row(
            algorithm=self.algorithm,
            role=role,
            worker="draft" if role.startswith("draft") else "target",
            runner="Runner",
            mode=MODES.get(role, "DECODE" if self.algorithm == "EAGLE" else "TARGET_VERIFY"),
            tokens_per_bs=width,
            capture_bs=listed.sizes,
            mul_base=listed.base,
            gate_width=width,
            dummy_width=width,
            inputs=inputs,
            captured=tuple(self.graph(role, bs, width) for bs in listed.sizes),
        )
        return replace(bare, buffers=self.buffers(bare))

    def graph(self, role: str, bs: int, width: int) -> Captured:
        return Captured(
            bs=bs,
            tokens=bs * width,
            key=f"ShapeKey(size={bs}, stream_idx=None)",
            logits_rows=bs if role == "draft_extend" else bs * width,
            mask_numel=bs * width * (width + 1) if role == "target_verify" else None,
        )

    def buffers(self, row: Row) -> tuple[Buffer, ...]:
        """Each buffer that the role's runner has, at the least size that it may have."""
        at = extents(Ledger(algorithm=self.algorithm, sizes=self.sizes), row)
        return tuple(
            Buffer(
                owner=owner,
                name=name,
                shape=tuple(3 if size is None else size for size in demand.shape(at)),
                dtype="int64",
                bytes=8,
            )
            for (owner, name), demand in demands(row.role).items()
            if owner in OWNERS[self.algorithm, row.role]
        )


@st.composite
def worlds(draw: st.DrawFn, algorithms: tuple[str, ...] = ("DDTREE", "EAGLE", "NONE")) -> World:
    algorithm = draw(st.sampled_from(algorithms))
    topk, draft_tokens = draw(st.integers(2, 6)), draw(st.integers(2, 65))
    widths = {
        "DDTREE": {"target_verify": draft_tokens, "draft": draw(st.integers(2, 16))},
        "EAGLE": {"target_verify": draft_tokens, "draft": topk, "draft_extend": draft_tokens},
        "NONE": {"decode": 1},
    }[algorithm]
    world = World(
        algorithm=algorithm,
        widths=widths,
        configured=tuple(draw(st.lists(st.integers(1, 160), min_size=3, max_size=12, unique=True))),
        pool=draw(st.integers(1, 200)),
        attn_tp=draw(st.sampled_from((1, 2, 4, 8))),
        attn_cp=draw(st.sampled_from((1, 2, 4))),
        gather=draw(st.booleans()),
        two_batch_overlap=draw(st.booleans()),
        sizes={
            "steps": draw(st.integers(2, 7)),
            "topk": topk,
            "context_len": draw(st.integers(64, 4096)),
            "vocab_size": draw(st.integers(32, 4096)),
        },
    )
    assume(all(not world.captured(width).refused for width in widths.values()))
    return world


def fired(world: World, ledger: Ledger) -> list[tuple[str, str]]:
    """The rules that found something or could not judge, with the subject."""
    facts = Facts(
        host=Host(python="3.11", platform="linux"),
        engine=Engine(),
        launch=Launch(command="the law"),
        target=ModelConfig(name="target"),
    )
    outcomes = judge(Case(facts=facts, contract=world.contract(), ledger=ledger), SHAPE, "shape")
    assert len(outcomes) == len(SHAPE)
    assert not [
        (outcome.check.code, outcome.reason) for outcome in outcomes if outcome.status in ("unknown", "skipped")
    ]
    return [(outcome.check.code, found.subject) for outcome in outcomes for found in outcome.findings]


def changed(ledger: Ledger, role: str, **changes: object) -> Ledger:
    rows = tuple(replace(row, **changes) if row.role == role else row for row in ledger.rows)
    return replace(ledger, rows=rows)


@given(worlds())
def test_the_ledger_that_the_contract_demands_is_clean(world: World) -> None:
    assert fired(world, world.ledger()) == []


@given(worlds(), st.data())
def test_larger_buffers_are_no_fault(world: World, data: st.DataObject) -> None:
    role = data.draw(st.sampled_from(sorted(world.widths)))
    row = world.ledger().row(role)
    grown = tuple(replace(b, shape=tuple(n + data.draw(st.integers(0, 3)) for n in b.shape)) for b in row.buffers[:4])
    assert fired(world, changed(world.ledger(), role, buffers=(*grown, *row.buffers[4:]))) == []


@given(worlds(), st.data())
def test_a_smaller_buffer_fires_the_rule_of_its_kind_alone(world: World, data: st.DataObject) -> None:
    role = data.draw(st.sampled_from(sorted(world.widths)))
    row = world.ledger().row(role)
    index = data.draw(st.integers(0, len(row.buffers) - 1))
    demand = demands(role)[row.buffers[index].owner, row.buffers[index].name]
    axis = data.draw(st.sampled_from([i for i, size in enumerate(demand.dims) if size is not None]))
    shape = list(row.buffers[index].shape)
    shape[axis] -= 1
    buffers = (*row.buffers[:index], replace(row.buffers[index], shape=tuple(shape)), *row.buffers[index + 1 :])
    assert fired(world, changed(world.ledger(), role, buffers=buffers)) == [(KIND_RULES[demand.kind], row.subject)]


@given(worlds(algorithms=("DDTREE",)), st.data())
def test_a_runner_that_believes_another_width_fires_dd201_alone(world: World, data: st.DataObject) -> None:
    """The whole engine follows the wrong width, as in the fault that founded this project."""
    role = data.draw(st.sampled_from(sorted(world.widths)))
    wrong = data.draw(st.integers(1, world.widths[role] - 1))
    mistaken = replace(world, widths=world.widths | {role: wrong})
    assume(not mistaken.captured(wrong).refused)
    assert fired(world, mistaken.ledger()) == [("DD201", f"{world.algorithm}/{role}")]


@given(worlds(), st.data())
def test_one_size_less_in_the_list_fires_the_rule_of_its_place_alone(world: World, data: st.DataObject) -> None:
    role = data.draw(st.sampled_from(sorted(world.widths)))
    row = world.ledger().row(role)
    assume(len(row.capture_bs) > 1)
    index = data.draw(st.integers(0, len(row.capture_bs) - 1))
    left = row.capture_bs[:index] + row.capture_bs[index + 1 :]
    rule = {0: "DD205", len(row.capture_bs) - 1: "DD204"}.get(index, "DD202")
    graphs = tuple(graph for graph in row.captured if graph.bs in left)
    assert fired(world, changed(world.ledger(), role, capture_bs=left, captured=graphs)) == [(rule, row.subject)]


@given(worlds(), st.data())
def test_a_size_that_the_rule_drops_fires_dd202_alone(world: World, data: st.DataObject) -> None:
    role = data.draw(st.sampled_from(sorted(world.widths)))
    row = world.ledger().row(role)
    extra = data.draw(st.integers(1, max(row.capture_bs)))
    assume(extra not in row.capture_bs)
    listed = tuple(sorted((*row.capture_bs, extra)))
    graphs = (*row.captured, world.graph(role, extra, world.widths[role]))
    assert fired(world, changed(world.ledger(), role, capture_bs=listed, captured=graphs)) == [("DD202", row.subject)]


@given(worlds(), st.data())
def test_a_list_filtered_without_its_mul_base_fires_dd203_alone(world: World, data: st.DataObject) -> None:
    role = data.draw(st.sampled_from(sorted(world.widths)))
    width = world.widths[role]
    forgetful = replace(world, attn_cp=1, gather=False, two_batch_overlap=False)
    assume(world.captured(width).base > 1 and not world.two_batch_overlap)
    row = forgetful.row(role, width)
    told = replace(row, inputs=world.row(role, width).inputs)
    ledger = world.ledger()
    mixed = replace(ledger, rows=tuple(told if old.role == role else old for old in ledger.rows))
    assert fired(world, mixed) == [("DD203", row.subject)]


GRAPH_FAULTS: dict[str, Callable[[Row], dict[str, object]]] = {
    "DD206": lambda row: {"captured": tuple(replace(g, key="ShapeKey(size=0)") for g in row.captured)},
    "DD207": lambda row: {"captured": tuple(replace(g, tokens=g.tokens - 1) for g in row.captured)},
    "DD209": lambda row: {"captured": tuple(replace(g, mask_numel=(g.mask_numel or 0) - 1) for g in row.captured)},
    "DD212": lambda row: {"captured": tuple(replace(g, logits_rows=g.logits_rows - 1) for g in row.captured)},
    "DD213": lambda row: {"inputs": {**row.inputs, "configured": (*row.inputs["configured"], 1 << 20)}},
    "DD214": lambda row: {"gate_width": -1},
    "DD215": lambda row: {"gate_width": row.tokens_per_bs + 1},
    "DD216": lambda row: {"dummy_width": row.tokens_per_bs - 1},
    "DD217": lambda row: {"capture_bs": (), "captured": (), "buffers": ()},
    "DD218": lambda row: {"mode": "IDLE"},
    "DD219": lambda row: {"captured": row.captured[:-1]},
}


@pytest.mark.parametrize("code", sorted(GRAPH_FAULTS))
@given(world=worlds(algorithms=("DDTREE",)))
def test_one_fault_of_a_graph_fires_its_rule_alone(code: str, world: World) -> None:
    role = "draft" if code == "DD213" else "target_verify"
    row = world.ledger().row(role)
    assume(len(row.captured) > 1)
    if code == "DD213":
        assume(max(world.configured) > world.captured(world.widths[role]).pool)
    found = fired(world, changed(world.ledger(), role, **GRAPH_FAULTS[code](row)))
    assert set(found) == {(code, row.subject)}


@given(world=worlds(algorithms=("EAGLE",)))
def test_draft_extend_may_keep_every_token_s_logits_as_before_0_5_23(world: World) -> None:
    row = world.ledger().row("draft_extend")
    every = tuple(replace(graph, logits_rows=graph.tokens) for graph in row.captured)
    assert not fired(world, changed(world.ledger(), "draft_extend", captured=every))


def test_every_kind_of_demand_has_a_rule() -> None:
    assert {demand.kind for demand in DEMANDS} == set(KIND_RULES)
