"""What one behaviour on a GPU comes down to in the results: the rules that find something, and its numbers."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from ddtree_doctor.checks import rules
from ddtree_doctor.judge import judge_alone
from ddtree_doctor.replay.record import Behaviour
from ddtree_doctor.rule import Case

GPU_RULES = tuple(rule for rule in rules() if rule.tier == "replay-gpu")


def judged(case: Case, seen: Behaviour) -> dict[str, str]:
    """Code → message of what the replay-gpu rules find in one behaviour."""
    outcomes = judge_alone(case, seen, GPU_RULES, "replay-gpu")
    return {finding.code: finding.message[:300] for outcome in outcomes for finding in outcome.findings}


def summary(seen: Behaviour) -> dict[str, Any]:
    """What matters of a behaviour."""
    replays = [(one, one.replay) for one in seen.passes if one.replay]
    paths = [(one, one.path) for one in seen.passes if one.path]
    return {
        "subject": seen.subject,
        "width": seen.width,
        "page_size": seen.page_size,
        "dtype": seen.dtype,
        "passes": len(seen.passes),
        "hits": sum(one.hit for one in seen.passes),
        "scenarios": len({one.scenario for one in seen.passes}),
        "replay_spread": max((gap.spread for _, gap in replays), default=None),
        "path_spread": max((gap.spread for _, gap in paths), default=None),
        "scale": max((gap.scale for _, gap in replays), default=None),
        "replay_differs": [(one.scenario, one.bs, gap.size) for one, gap in replays if not gap.agrees(seen.dtype)][:4],
        "path_differs": [(one.scenario, one.bs, gap.size) for one, gap in paths if not gap.agrees(seen.dtype)][:4],
        "responses": [(one.name, one.must, one.gap.agrees(seen.dtype), one.gap.size) for one in seen.responses],
        "errors": [(one.scenario, one.error) for one in seen.passes if one.error][:3],
        "accesses": [asdict(one) for one in seen.accesses][:4],
        "moved": list(seen.moved),
        "sanitizer": seen.sanitizer,
        "reports": [asdict(one) for one in seen.reports][:6],
        "report_count": len(seen.reports),
        "notes": list(seen.notes),
        "seconds": seen.seconds,
        "unknown": seen.unknown,
    }
