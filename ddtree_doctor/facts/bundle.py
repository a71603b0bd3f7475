"""Facts and ledgers as one JSON file, to judge again on another machine: `ddtree-doctor/facts/1`.

A bundle holds everything a verdict rests on and nothing else. Judging `Bundle.cases()` gives the same findings here as
where the bundle is read, because both judge the same plain values.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ddtree_doctor import __version__
from ddtree_doctor.errors import UsageError
from ddtree_doctor.facts.home import home_hidden
from ddtree_doctor.facts.model import Engine, Facts, Host, ModelConfig
from ddtree_doctor.facts.plain import DEEPEST, plain, tuples
from ddtree_doctor.launch.model import Launch
from ddtree_doctor.ledger import Ledger
from ddtree_doctor.tiers import TIERS

if TYPE_CHECKING:
    from ddtree_doctor.rule import Case

__all__ = ["SCHEMA", "Bundle", "Entry", "bundle_of", "read_bundle", "read_bundle_file"]

SCHEMA = "ddtree-doctor/facts/1"
LARGEST_BUNDLE = 256 * 1024 * 1024
LARGEST_INT = 2**63


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """What one launch adds to host and engine."""

    launch: Launch
    target: ModelConfig
    draft: ModelConfig | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What the run was asked for: the deepest tier that it reached for."""

    tier: str = "static"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """Who wrote the bundle."""

    name: str
    version: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Bundle:
    """Facts of several launches on one host and engine; `ledgers` has one for each launch, None where none was made."""

    schema: str
    tool: Tool
    host: Host
    engine: Engine
    launches: tuple[Entry, ...]
    ledgers: tuple[Ledger | None, ...]
    options: Options

    @property
    def tier(self) -> str:
        """The tier that the run reached for."""
        return self.options.tier

    def facts(self) -> tuple[Facts, ...]:
        """The facts of each launch."""
        return tuple(
            Facts(host=self.host, engine=self.engine, launch=entry.launch, target=entry.target, draft=entry.draft)
            for entry in self.launches
        )

    def cases(self) -> tuple[Case, ...]:
        """What to judge: each launch's facts with the contract computed from them, and its ledger."""
        from ddtree_doctor.contract.build import build
        from ddtree_doctor.rule import Case

        pairs = zip(self.facts(), self.ledgers, strict=True)
        return tuple(Case(facts=facts, contract=build(facts), ledger=ledger) for facts, ledger in pairs)

    def to_json(self) -> str:
        """The bundle's text: the same facts give the same bytes."""
        return json.dumps(asdict(self), indent=1, sort_keys=True, allow_nan=False) + "\n"

    def digest(self) -> str:
        """sha256 of the facts and ledgers, whichever version of the tool wrote them."""
        values = {name: value for name, value in asdict(self).items() if name != "tool"}
        return hashlib.sha256(json.dumps(values, sort_keys=True, allow_nan=False).encode()).hexdigest()


def bundle_of(cases: Sequence[Case], *, tier: str = "static") -> Bundle:
    """The bundle of `cases`, which share host and engine. Paths under the home directory become `~`."""
    first = cases[0].facts
    bundle = Bundle(
        schema=SCHEMA,
        tool=Tool(name="ddtree-doctor", version=__version__),
        host=first.host,
        engine=first.engine,
        launches=tuple(
            Entry(launch=case.facts.launch, target=case.facts.target, draft=case.facts.draft) for case in cases
        ),
        ledgers=tuple(case.ledger for case in cases),
        options=Options(tier=tier),
    )
    return plain(bundle, home_hidden())


def read_bundle_file(path: str) -> Bundle:
    """The bundle in a file, `-` for standard input. Raises UsageError where it is none."""
    import sys

    try:
        with sys.stdin.buffer if path == "-" else Path(path).open("rb") as file:
            data = file.read(LARGEST_BUNDLE + 1)
    except (OSError, ValueError) as fault:
        reason = fault.strerror if isinstance(fault, OSError) and fault.strerror else str(fault)
        raise UsageError(f"--facts {path[:200]!r}: {reason}; give a file written by --facts-out") from None
    return read_bundle(data, name=path)


def read_bundle(data: bytes, *, name: str = "bundle") -> Bundle:
    """The bundle in `data`. Raises UsageError, and nothing else, where it is none of this schema."""
    values = _values(data, name)
    if values.get("schema") != SCHEMA:
        raise _refused(name, f"its schema is {str(values.get('schema'))[:60]!r}, not {SCHEMA!r}")
    bundle = _decoded(values, name)
    if len(bundle.ledgers) != len(bundle.launches) or not bundle.launches:
        raise _refused(name, f"it holds {len(bundle.launches)} launches and {len(bundle.ledgers)} ledgers")
    if bundle.tier not in TIERS:
        raise _refused(name, f"its tier is {bundle.tier[:60]!r}, not one of {', '.join(TIERS)}")
    return replace(bundle, engine=replace(bundle.engine, traits=tuples(bundle.engine.traits)))


def _values(data: bytes, name: str) -> Mapping[str, Any]:
    if len(data) > LARGEST_BUNDLE:
        raise _refused(name, f"it has more than {LARGEST_BUNDLE:,} bytes")
    try:
        values = json.loads(data.decode("utf-8"), parse_constant=_no_constant)
    except (ValueError, RecursionError) as fault:
        reason = "it is nested too deeply" if isinstance(fault, RecursionError) else f"it is not JSON ({fault})"
        raise _refused(name, reason) from None
    if not isinstance(values, dict):
        raise _refused(name, "it holds no object")
    if fault_found := _out_of_bounds(values, DEEPEST + 8):
        raise _refused(name, fault_found)
    return values


def _decoded(values: Mapping[str, Any], name: str) -> Bundle:
    from dacite import Config, DaciteError, from_dict

    try:
        return from_dict(Bundle, values, Config(strict=True, cast=[tuple]))
    except DaciteError as fault:
        raise _refused(name, str(fault)) from None
    except (TypeError, ValueError, AttributeError, RecursionError) as fault:
        raise _refused(name, f"a value has another type ({type(fault).__name__})") from None


def _out_of_bounds(value: Any, depth: int) -> str:
    """Why `value` holds what facts never hold, "" where it does not."""
    if isinstance(value, float) and value - value != 0:
        return "a number in it is not finite"
    if isinstance(value, int) and abs(value) >= LARGEST_INT:
        return "a number in it is beyond 64 bits"
    if isinstance(value, str) and not _encodes(value):
        return "a text in it cannot be written as UTF-8"
    if not isinstance(value, dict | list):
        return ""
    if not depth:
        return f"it is nested more than {DEEPEST + 8} levels deep"
    items = [*value, *value.values()] if isinstance(value, dict) else value
    return next((fault for item in items if (fault := _out_of_bounds(item, depth - 1))), "")


def _encodes(text: str) -> bool:
    return text.isascii() or text == text.encode("utf-8", "replace").decode("utf-8")


def _no_constant(text: str) -> Any:
    raise ValueError(f"{text} is no number")


def _refused(name: str, reason: str) -> UsageError:
    line = " ".join(reason.split())[:300]
    return UsageError(f"--facts {name[:200]!r}: {line}; give a file that --facts-out of ddtree-doctor wrote")
