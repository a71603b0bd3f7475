"""Behaviours as the report has them: what was replayed and how often the graph was hit, without each pass's numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ddtree_doctor.replay.record import Behaviour

__all__ = ["behaviour_line", "behaviour_object"]


def behaviour_object(launch: int, seen: Behaviour) -> dict[str, Any]:
    """One entry of the report's `behaviours`; `launch` is the index of the launch that it was seen on."""
    return {
        "launch": launch,
        "host": seen.host,
        "algorithm": seen.algorithm,
        "role": seen.role,
        "backend": seen.backend,
        "dtype": seen.dtype,
        "width": seen.width,
        "page_size": seen.page_size,
        "scenarios": len({one.scenario for one in seen.passes}),
        "passes": len(seen.passes),
        "graph_hits": sum(one.hit for one in seen.passes),
        "responses": len(seen.responses),
        "acceptances": len(seen.acceptances),
        "launches_watched": seen.launches,
        "accesses": len(seen.accesses),
        "seconds": seen.seconds,
        "notes": list(seen.notes),
        "unknown": seen.unknown,
    }


def behaviour_line(entry: Mapping[str, Any]) -> str:
    """`DDTREE/target_verify, 33 wide, on triton (cpu): 14 scenarios, 21 passes, 21 hit their graph, …`."""
    who = f"{entry['algorithm']}/{entry['role']}, {entry['width']} wide, on {entry['backend']} ({entry['host']})"
    if not entry["passes"] and not entry["acceptances"]:
        why = entry["unknown"] or "; ".join(entry["notes"]) or "no scenario was chosen"
        return f"{who}: nothing ran: {why}"
    counts = [
        _count(entry["scenarios"], "scenario"),
        _count(entry["passes"], "pass", "passes"),
        f"{entry['graph_hits']} hit their graph",
        _count(entry["launches_watched"], "kernel launch", "kernel launches") + " watched",
        _count(entry["accesses"], "stray access", "stray accesses"),
    ]
    if entry["acceptances"]:
        counts.insert(3, _count(entry["acceptances"], "accepted path"))
    cut = f"; then: {entry['unknown']}" if entry["unknown"] else ""
    return f"{who}: {', '.join(counts)} in {entry['seconds']:.0f} s{cut}"


def _count(number: int, noun: str, plural: str = "") -> str:
    return f"{number} {noun if number == 1 else plural or noun + 's'}"
