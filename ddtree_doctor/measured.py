"""What was measured on GPUs and ships with the doctor: one architecture ledger a file, read once at import.

Files: `fixtures/hazards/measured/<arch>.json`, written by `doctor replay --record`.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files

from ddtree_doctor.replay.arch import ArchLedger, read_arch

__all__ = ["MEASURED", "load"]


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
