"""DD112: the block size of the command line is not the draft checkpoint's."""

from __future__ import annotations

from collections.abc import Iterator

from ddtree_doctor.contract.checkpoint import block_size
from ddtree_doctor.rule import Case, Check, Finding

BLOCK_FLAGS = {
    "DFLASH": ("speculative_dflash_block_size", "speculative_num_draft_tokens"),
    "DDTREE": ("speculative_ddtree_block_size", "speculative_dflash_block_size", "speculative_num_draft_tokens"),
    "DSPARK": ("speculative_dspark_block_size",),
}


class BlockSizesDisagree(Check):
    """The block size given is not the one that the draft checkpoint was trained with."""

    code = "DD112"
    severity = "warning"
    refuses = True
    why = (
        "A block drafter was trained on blocks of one size. With another the engine goes on: positions beyond the "
        "trained block are guesses that are verified and rejected, a smaller block gives away accepted tokens, and "
        "parts that reshape by the checkpoint's own number (a confidence head, say) fail on the first request."
    )
    fix = ("leave the block size out: the engine takes it from the checkpoint",)
    references = (
        "https://github.com/sgl-project/sglang/issues/31018",
        "https://github.com/z-lab/dflash",
    )

    def judge(self, case: Case) -> Iterator[Finding]:
        """The first block flag given against `block_size` of the draft's config.json; two flags against each other."""
        algorithm = self.speculation(case)
        if algorithm not in BLOCK_FLAGS:
            raise self.skip(f"{algorithm} drafts no blocks")
        flags = {name: case.given.integer(name).optional() for name in BLOCK_FLAGS[algorithm]}
        given = {name: value for name, value in flags.items() if value is not None}
        if not given:
            raise self.skip("no block size given")
        if len(set(given.values())) > 1:
            yield self._flags_disagree(case, algorithm, given)
        if case.facts.draft is None:
            raise self.skip("no draft model given")
        name, block = next(iter(given.items()))
        trained = block_size(case.facts.draft)
        if trained is not None and block != trained:
            yield self.found(
                f"{algorithm}/draft",
                f"block size {block} given; the draft checkpoint was trained with {trained}",
                at=case.at(name),
                fix=(f"--{name.replace('_', '-')} {trained}", *self.fix),
                given=block,
                checkpoint=trained,
            )

    def _flags_disagree(self, case: Case, algorithm: str, given: dict[str, int]) -> Finding:
        said = ", ".join(f"--{name.replace('_', '-')} {value}" for name, value in given.items())
        return self.found(
            f"{algorithm}/draft",
            f"two block sizes given: {said}; they are one number, and SGLang refuses to start",
            at=case.at(*given),
            severity="error",
            fix=("give one of them",),
            given=given,
        )
