"""DD220: req_to_token has no room for a pass at the end of the context."""

from __future__ import annotations

from collections.abc import Iterator

from ddtree_doctor.checks.observed import graphs, too_small
from ddtree_doctor.rule import Case, Check, Finding


class HeadroomBehindContextMissing(Check):
    """A request's row of req_to_token has no room for a pass that begins at the end of the context."""

    code = "DD220"
    tier = "shape"
    why = (
        "A verify pass writes the KV slots of its whole width behind the committed tokens, also where most of them are "
        "rejected. A row of req_to_token that is narrower than context + width is written past its end, into the row "
        "of the next request, when one comes near the context length."
    )
    fix = (
        "in the algorithm: report the verify width as the largest number of draft tokens",
        "--context-length: lower it by the verify width until then",
    )
    references = (
        "https://github.com/sgl-project/sglang/issues/30570",
        "https://github.com/sgl-project/sglang/issues/29695",
    )

    def judge(self, case: Case) -> Iterator[Finding]:
        """The width of req_to_token against context + width."""
        for row, _ in graphs(case):
            yield from too_small(self, case, row, "headroom")
