"""What is known of each algorithm × attention backend × GPU architecture: measured, reported, or nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from ddtree_doctor.facts.archs import architecture_order
from ddtree_doctor.hazards import Hazard
from ddtree_doctor.replay.arch import ArchLedger, Measured, Run

__all__ = ["ARCHS", "SCHEMA", "arch_matrix"]

SCHEMA = "ddtree-doctor/arch-matrix/1"
ARCHS = ("sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_103", "sm_120", "sm_121")
"""Architectures that SGLang serves on, as columns even where nothing is known of them."""

ALGORITHMS = ("NONE", "NGRAM", "EAGLE", "EAGLE3", "STANDALONE", "DFLASH", "DDTREE", "DSPARK")
BACKENDS = ("triton", "flashinfer", "fa3", "trtllm_mha")


def arch_matrix(measured: Mapping[str, ArchLedger], hazards: Sequence[Hazard]) -> list[dict[str, Any]]:
    """One cell for each combination, JSON values only.

    `state` is `passed`, `failed` or `unknown` where something was measured (the worst of it), else `reported` where a
    hazard speaks of the combination, else `blank`. `measured` and `reported` hold the evidence.
    """
    archs = sorted({*ARCHS, *measured}, key=architecture_order)
    algorithms, backends = _axis(ALGORITHMS, measured, "algorithm"), _axis(BACKENDS, measured, "backend")
    return [
        _cell(measured, hazards, algorithm, backend, arch)
        for algorithm in algorithms
        for backend in backends
        for arch in archs
    ]


def _axis(known: Sequence[str], measured: Mapping[str, ArchLedger], name: str) -> list[str]:
    """The known names, then those that were measured beside them."""
    return list(dict.fromkeys((*known, *(getattr(cell, name) for _, cell in _all(measured)))))


def _all(measured: Mapping[str, ArchLedger]) -> Iterator[tuple[Run, Measured]]:
    for ledger in measured.values():
        yield from ledger.cells()


def _cell(
    measured: Mapping[str, ArchLedger], hazards: Sequence[Hazard], algorithm: str, backend: str, arch: str
) -> dict[str, Any]:
    seen = [
        _evidence(run, cell)
        for run, cell in (measured[arch].cells() if arch in measured else ())
        if (cell.algorithm, cell.backend) == (algorithm, backend)
    ]
    reported = [hazard.id for hazard in hazards if _speaks_of(hazard, algorithm, backend, arch)]
    return {
        "algorithm": algorithm,
        "backend": backend,
        "arch": arch,
        "state": _state([one["verdict"] for one in seen], reported),
        "measured": seen,
        "reported": reported,
    }


def _evidence(run: Run, cell: Measured) -> dict[str, Any]:
    kept = ("width", "page_size", "dtype", "verdict", "scenarios", "passes", "hits", "findings", "unknown")
    values = asdict(cell)
    machine = {"gpu": run.gpu, "driver": run.driver, "torch": run.torch, "sglang": run.sglang, "date": run.date}
    return {**{name: values[name] for name in kept}, "findings": list(cell.findings), **machine}


def _state(verdicts: Sequence[str], reported: Sequence[str]) -> str:
    worst = next((verdict for verdict in ("failed", "unknown", "passed") if verdict in verdicts), "")
    return worst or ("reported" if reported else "blank")


def _speaks_of(hazard: Hazard, algorithm: str, backend: str, arch: str) -> bool:
    """Whether the hazard names the architecture and, of algorithm and backend, at least one, and no other.

    One that names the architecture alone speaks of other parts (expert layers, quantisation) and fits every row.
    """
    wanted = {"arch": arch, "algorithm": algorithm, "attention_backend": backend}
    named = {name: hazard.when[name] for name in wanted if name in hazard.when}
    return "arch" in named and len(named) > 1 and all(wanted[name] in values for name, values in named.items())
