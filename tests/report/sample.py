"""A small but full report: one launch, one of each outcome, a ledger; text from a hostile user on request."""

from dataclasses import replace

from ddtree_doctor.contract.model import Contract, RoleContract, Settings
from ddtree_doctor.facts.model import Engine, Facts, Host, ModelConfig, Option
from ddtree_doctor.judge import judge
from ddtree_doctor.knowledge import NotKnown, Value
from ddtree_doctor.launch.model import Flag, Launch, Location
from ddtree_doctor.ledger import Buffer, Ledger, Row
from ddtree_doctor.replay.record import Behaviour, Pass
from ddtree_doctor.report.document import Examined, document
from ddtree_doctor.rule import Case, Check

OPTIONS = (
    Option(name="speculative_algorithm", options=("--speculative-algorithm",)),
    Option(name="tp_size", options=("--tp-size", "--tp"), type="int"),
    Option(name="model_path", options=("--model-path",)),
)


class BudgetTooLarge(Check):
    """The budget is larger than the graph."""

    code = "DD201"
    tier = "shape"
    required = True
    why = "A graph of fixed shape takes no other."
    fix = ("--speculative-num-draft-tokens 33",)
    references = ("https://example.org/issues/1",)
    text = "8 was captured, 33 is forwarded"

    def judge(self, case):
        yield self.found("DDTREE/target_verify", self.text, at=case.at("tp_size"), observed=8, expected=33)


class SizesLost(Check):
    """Small batches run without a graph."""

    code = "DD108"
    severity = "warning"
    why = "They are slower."

    def judge(self, case):
        yield self.found("DDTREE/target_verify", "1 to 7 are lost", lost=[1, 2, 3])


class DraftUnread(Check):
    """The draft config is needed."""

    code = "DD113"
    why = "Positions may run out."

    def judge(self, case):
        raise NotKnown("config of draft", "not in the local cache")
        yield


class NothingWrong(Check):
    """All is well."""

    code = "DD101"
    why = "It would not start."

    def judge(self, case):
        return iter(())


class DeepOnly(Check):
    """Only on a GPU."""

    code = "DD401"
    tier = "replay-gpu"
    why = "Kernels differ."


RULES = (NothingWrong, SizesLost, DraftUnread, BudgetTooLarge, DeepOnly)


def settings() -> Settings:
    """All unknown but the algorithm."""
    values = {name: Value(name=name, why="not given") for name in Settings.__dataclass_fields__}
    return Settings(**{**values, "algorithm": Value(name="algorithm", value="DDTREE", origin="given")})


def case(text: str = "plain") -> Case:
    """A case whose launch carries `text` where a user's words go."""
    width = Value(name="width", value=33, origin="derived")
    unset = Value(name="other", why="not computed")
    demand = RoleContract(
        algorithm="DDTREE",
        role="target_verify",
        worker="target",
        width=width,
        mul_base=unset,
        capture_bs=unset,
        lost_bs=unset,
    )
    row = Row(
        algorithm="DDTREE",
        role="target_verify",
        runner="DecodeCudaGraphRunner",
        source="runner.py:359",
        tokens_per_bs=8,
        capture_bs=tuple(range(1, 13)),
        mul_base=1,
        buffers=(Buffer(name="input_ids", shape=(96,), dtype="int64", bytes=768, owner="DecodeInputBuffers"),),
    )
    lost = Row(algorithm="DDTREE", role="draft", unknown=f"seam moved {text}")
    at = Location(file="launch.sh", line=4)
    launch = Launch(
        command=f"python -m sglang.launch_server --tp eight {text}",
        location=Location(file="launch.sh", line=1),
        flags=(
            Flag(option="--tp", name="tp_size", values=("eight",), location=at),
            Flag(option="--model-path", name="model_path", values=(text,), location=at),
        ),
    )
    facts = Facts(
        host=Host(python="3.11.7", platform="linux"),
        engine=Engine(version="0.5.23", layout="captured-req-width", options=OPTIONS),
        launch=launch,
        target=ModelConfig(name="m"),
    )
    ledger = Ledger(
        algorithm="DDTREE",
        rows=(row, lost),
        substituted=(f"device: cpu {text}",),
        behaviours=(verify_behaviour(text), replace(verify_behaviour(text), role="draft", passes=(), notes=(text,))),
    )
    return Case(facts=facts, contract=Contract(settings=settings(), roles=(demand,)), ledger=ledger)


def verify_behaviour(text: str = "") -> Behaviour:
    """Three passes of two scenarios, one of them eager; `text` is what the probe said at its end."""
    hit = Pass(scenario="shrink", step=0, bs=4, hit=True, captured_bs=4, key="4")
    return Behaviour(
        host="cpu",
        algorithm="DDTREE",
        role="target_verify",
        backend="triton",
        dtype="float32",
        page_size=16,
        width=33,
        passes=(hit, replace(hit, step=1, bs=3), Pass(scenario="captured/8", step=0, bs=8)),
        launches=81,
        seconds=11.2,
        unknown=text,
    )


def report(text: str = "plain", tier: str = "shape", rules: tuple[type[Check], ...] = RULES) -> dict:
    """The report object for `case(text)`; findings carry `text` too."""
    one = case(text)
    outcomes = judge(one, rules, tier)
    tainted = tuple(
        replace(
            o,
            findings=tuple(replace(f, message=f"{f.message} {text}", subject=f"{f.subject}{text}") for f in o.findings),
        )
        for o in outcomes
    )
    return document([Examined(case=one, outcomes=tainted)], tier=tier, facts_digest="0" * 64)
