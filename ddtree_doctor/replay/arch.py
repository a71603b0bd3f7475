"""The architecture ledger (`ddtree-doctor/arch/1`): what was measured on one GPU architecture, and with what.

A ledger holds runs, newest first; a run names its machine, its software, its day and its command, and has one cell for
each algorithm × backend × width × page size × dtype. A cell that is measured again replaces the older one.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from dacite import Config, DaciteError, from_dict

__all__ = ["SCHEMA", "VERDICTS", "ArchLedger", "Measured", "Run", "read_arch"]

SCHEMA = "ddtree-doctor/arch/1"
VERDICTS = ("passed", "failed", "unknown")


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """One cell. `width` in tokens a request (0: not known), `page_size` in tokens, `seconds` for the whole probe.

    `verdict` is one of VERDICTS; `findings` are the codes of the rules that failed, `unknown` why a cell was not
    measured, or not to its end. `scenarios`, `passes` and `hits` (passes that ran through their graph) count.
    """

    algorithm: str
    backend: str
    width: int
    page_size: int
    dtype: str
    verdict: str
    scenarios: int = 0
    passes: int = 0
    hits: int = 0
    findings: tuple[str, ...] = ()
    unknown: str = ""
    seconds: float = 0.0

    def __post_init__(self) -> None:
        if self.verdict not in VERDICTS:
            raise ValueError(f"verdict {self.verdict!r} of {self.key}: is none of {', '.join(VERDICTS)}")

    @property
    def key(self) -> tuple[str, str, int, int, str]:
        """What makes two cells the same cell."""
        return self.algorithm, self.backend, self.width, self.page_size, self.dtype


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One command on one machine. `date` is YYYY-MM-DD (UTC); `kernels` maps kernel packages to versions."""

    date: str
    command: str
    gpu: str
    driver: str
    torch: str
    triton: str
    sglang: str
    doctor: str
    kernels: Mapping[str, str] = field(default_factory=dict)
    cells: tuple[Measured, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchLedger:
    """All that was measured on `arch` (`sm_90`)."""

    arch: str
    runs: tuple[Run, ...] = ()

    def with_run(self, run: Run) -> ArchLedger:
        """The ledger with `run` first, and without older cells that it measures again."""
        again = {cell.key for cell in run.cells}
        older = (replace(one, cells=tuple(c for c in one.cells if c.key not in again)) for one in self.runs)
        return replace(self, runs=(run, *(one for one in older if one.cells)))

    def cells(self) -> Iterator[tuple[Run, Measured]]:
        """Every cell with the run that measured it."""
        return ((run, cell) for run in self.runs for cell in run.cells)

    def find(self, algorithm: str, backend: str, width: int) -> Iterable[tuple[Run, Measured]]:
        """What was measured of an algorithm on a backend at a width, whatever the page size."""
        wanted = algorithm, backend, width
        return [(run, cell) for run, cell in self.cells() if (cell.algorithm, cell.backend, cell.width) == wanted]

    def to_json(self) -> str:
        """As text that `read_arch` reads."""
        return json.dumps({"schema": SCHEMA, **asdict(self)}, indent=1, ensure_ascii=False) + "\n"


def read_arch(text: str) -> ArchLedger:
    """The ledger in `text`. Raises ValueError where it is none."""
    try:
        value: Any = json.loads(text)
        if not isinstance(value, dict) or value.pop("schema", None) != SCHEMA:
            raise ValueError(f"its schema is not {SCHEMA}")
        return from_dict(ArchLedger, value, Config(cast=[tuple], strict=True))
    except (DaciteError, ValueError, TypeError, KeyError, RecursionError) as error:
        raise ValueError(f"no architecture ledger: {error}") from error
