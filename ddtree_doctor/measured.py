"""What was measured on GPUs and ships with the doctor: one architecture ledger a file, read once at import.

Files: `fixtures/hazards/measured/<arch>.json`, written by `doctor replay --record`.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files

from ddtree_doctor.replay.arch import ArchLedger, Measured, Run, read_arch
from ddtree_doctor.rule import Case

__all__ = ["MEASURED", "load", "measured_like", "said"]


def load(texts: Mapping[str, str]) -> Mapping[str, ArchLedger]:
    """Architecture → ledger, from file name → text. Raises ValueError, naming the file, where one is no ledger."""
    ledgers: dict[str, ArchLedger] = {}
    for name, text in sorted(texts.items()):
        try:
            ledger = read_arch(text)
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from error
        if f"{ledger.arch}.json" != name:
            raise ValueError(f"{name}: holds what was measured on {ledger.arch}")
        ledgers[ledger.arch] = ledger
    return ledgers


def _shipped() -> dict[str, str]:
    folder = files("ddtree_doctor.fixtures") / "hazards" / "measured"
    if not folder.is_dir():
        return {}
    return {one.name: one.read_text(encoding="utf-8") for one in folder.iterdir() if one.name.endswith(".json")}


MEASURED = load(_shipped())
"""Architecture (`sm_90`) → its ledger."""


def measured_like(case: Case, measured: Mapping[str, ArchLedger]) -> list[tuple[Run, Measured]]:
    """What was measured of this launch's algorithm, attention backend and width on its architecture, newest first.

    Nothing where one of these is not known: what was measured of something else is no evidence.
    """
    settings, role = case.settings, case.contract.role("target_verify") or case.contract.role("decode")
    algorithm, backend = settings.algorithm.value, settings.attention_backend.value
    width = role.width.value if role else None
    if None in (algorithm, backend, width):
        return []
    ledgers = [measured.get(gpu.arch or "") for gpu in case.facts.host.gpus[:1]]
    return [found for one in ledgers if one for found in one.find(str(algorithm), str(backend), int(width or 0))]


def said(run: Run, cell: Measured) -> str:
    """`NGRAM, 33 wide, on triton, page size 16: passed, 62 scenarios (NVIDIA H200, SGLang 0.5.17, 2026-11-29)`."""
    what = f"{cell.algorithm}, {cell.width} wide, on {cell.backend}, page size {cell.page_size}: {cell.verdict}"
    how = f"{cell.scenarios} scenarios" if cell.verdict == "passed" else ", ".join(cell.findings) or cell.unknown
    return f"{what}, {how} ({run.gpu}, SGLang {run.sglang}, {run.date})"
