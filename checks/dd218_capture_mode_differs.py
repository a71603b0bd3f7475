"""DD218: a graph is captured in another forward mode than its role runs in."""

from __future__ import annotations

from collections.abc import Iterator

from ddtree_doctor.checks.observed import graphs
from ddtree_doctor.rule import Case, Check, Finding

_MODES = {
    "decode": ("DECODE",),
    "target_verify": ("TARGET_VERIFY",),
    "draft_extend": ("DRAFT_EXTEND_V2", "DRAFT_EXTEND"),
}
_DRAFT_MODES = {
    # A block of drafts is one verify-shaped forward; a tree that grows by step is a chain of decodes.
    **dict.fromkeys(("DFLASH", "DSPARK", "DDTREE", "UNO"), ("TARGET_VERIFY",)),
    **dict.fromkeys(("EAGLE", "EAGLE3", "NEXTN", "STANDALONE", "FROZEN_KV_MTP"), ("DECODE",)),
}


class CaptureModeDiffers(Check):
    """A graph is captured in another forward mode than its role runs in."""

    code = "DD218"
    tier = "shape"
    why = (
        "The mode decides which attention path is captured. A verify captured as decode has one query row a request "
        "and no mask; a decode captured as verify reads a tree that is not there."
    )
    fix = ("in the engine: capture target verify, and the draft of a block algorithm, as TARGET_VERIFY",)

    def judge(self, case: Case) -> Iterator[Finding]:
        """The mode of each row; a draft of an algorithm that is not in the table is not judged."""
        for row, demand in graphs(case):
            allowed = _DRAFT_MODES.get(demand.algorithm, ()) if row.role == "draft" else _MODES.get(row.role, ())
            if row.mode and allowed and row.mode not in allowed:
                yield self.found(
                    row.subject,
                    f"captured as {row.mode}; this role runs as {' or '.join(allowed)}",
                    observed=row.mode,
                    expected=list(allowed),
                )
