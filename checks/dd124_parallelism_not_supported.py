"""DD124: an algorithm with a kind of parallelism that it refuses."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from packaging.specifiers import SpecifierSet
from packaging.version import InvalidVersion, Version

from ddtree_doctor.rule import Case, Check, Finding


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """One refusal: which algorithms in which releases (a specifier, "" for all), what is tested, what to do."""

    algorithms: tuple[str, ...]
    releases: str
    broken: Callable[[Case], bool]
    text: str
    fix: str
    confidence: str = "certain"


def _pipeline(case: Case) -> bool:
    return case.given.integer("pp_size", default=1).need() > 1


def _pipeline_while_decoding(case: Case) -> bool:
    return _pipeline(case) and case.given.text("disaggregation_mode").value != "prefill"


def _dp_attention(case: Case) -> bool:
    return case.settings.dp_attention.need()


def _dp_without_lm_head(case: Case) -> bool:
    return _dp_attention(case) and not case.given.switch("enable_dp_lm_head").need()


def _dp_with_context(case: Case) -> bool:
    return _dp_attention(case) and case.settings.attn_cp.need() > 1


def _several_ranks(case: Case) -> bool:
    return case.settings.tp.need() > 1 or _pipeline(case)


_NO_DP = "does not run under DP attention"
LIMITS = (
    Limit(algorithms=("DFLASH",), releases="", broken=_pipeline, text="runs on one pipeline stage", fix="--pp-size 1"),
    Limit(
        algorithms=("DDTREE",),
        releases="",
        broken=_pipeline,
        text="runs on one pipeline stage",
        fix="--pp-size 1",
        confidence="likely",
    ),
    Limit(
        algorithms=("DSPARK",),
        releases="",
        broken=_pipeline_while_decoding,
        text="runs on one pipeline stage, prefill servers apart",
        fix="--pp-size 1",
    ),
    Limit(
        algorithms=("DFLASH",),
        releases="<0.5.23",
        broken=_dp_attention,
        text=f"{_NO_DP} before 0.5.23",
        fix="remove --enable-dp-attention",
    ),
    Limit(
        algorithms=("DFLASH", "DSPARK"),
        releases=">=0.5.16",
        broken=_dp_without_lm_head,
        text="under DP attention needs --enable-dp-lm-head",
        fix="--enable-dp-lm-head",
    ),
    Limit(
        algorithms=("DFLASH", "DSPARK"),
        releases=">=0.5.16",
        broken=_dp_with_context,
        text="does not combine DP attention with context parallelism",
        fix="--attn-cp-size 1",
    ),
    Limit(
        algorithms=("DDTREE",),
        releases="",
        broken=_dp_attention,
        text=f"{_NO_DP} in any fork known",
        fix="remove --enable-dp-attention",
        confidence="likely",
    ),
    Limit(
        algorithms=("STANDALONE", "NGRAM", "UNO"),
        releases="",
        broken=_dp_attention,
        text=_NO_DP,
        fix="remove --enable-dp-attention",
    ),
    Limit(
        algorithms=("UNO",),
        releases="",
        broken=_several_ranks,
        text="runs on one rank",
        fix="--tp-size 1 --pp-size 1",
    ),
)
"""Read from the argument handlers of the releases 0.5.10 to 0.5.23 and of the DDTREE forks."""


class ParallelismNotSupported(Check):
    """The algorithm does not run with the parallelism of this launch."""

    code = "DD124"
    refuses = True
    why = (
        "Draft and verify exchange hidden states, ids and KV slots between ranks. Where an algorithm has no code for "
        "a kind of parallelism SGLang refuses to start with the two."
    )
    fix = ("another algorithm, or the parallelism that it takes",)
    references = (
        "https://docs.sglang.io/advanced_features/speculative_decoding.html",
        "https://github.com/sgl-project/sglang/pull/27509",
    )

    def judge(self, case: Case) -> Iterator[Finding]:
        """Each limit of the launch's algorithm that this release has, in a table by algorithm and release.

        It holds pipeline stages, DP attention, the language-model head under it, context parallelism, and rank counts.
        """
        algorithm = self.speculation(case)
        limits = [limit for limit in LIMITS if algorithm in limit.algorithms]
        if not limits:
            raise self.skip(f"no limit known for {algorithm}")
        for limit in limits:
            if limit.broken(case) and _has(case, limit):
                yield self.found(
                    algorithm,
                    f"{algorithm} {limit.text}",
                    at=case.at("pp_size", "enable_dp_attention", "attn_dp_size", "dp_size", "tp_size"),
                    fix=(limit.fix,),
                    confidence=limit.confidence,
                    algorithm=algorithm,
                    tp=case.settings.tp.value,
                    dp=case.settings.dp.value,
                )


def _has(case: Case, limit: Limit) -> bool:
    """Whether this engine's release has the limit. Raises NotKnown where that depends on a version not known."""
    if not limit.releases:
        return True
    try:
        version = Version(case.facts.engine.version or "")
    except InvalidVersion as error:
        raise case.facts.engine.not_known("version") from error
    return SpecifierSet(limit.releases).contains(version, prereleases=True)
