"""Hazards that people met, each with where it was seen, by whom, and under which conditions.

The table is data (`fixtures/hazards/hazards.json`), read once when this module is imported, so that rules touch no
file. It is an object `{"schema": 1, "hazards": [...]}`; an entry has the fields of `Hazard`. `when` names conditions
that must all hold:

    arch               GPU architectures, any of them                        ["sm_103"]
    algorithm          speculative algorithms, any of them                   ["DDTREE", "NGRAM"]
    attention_backend  attention backends, any of them                       ["trtllm_mha"]
    model_type         `model_type` of the target's config.json, any         ["kimi_k2"]
    number             a numeric setting against a bound                     {"budget": ">8"}
    switch             engine field to the values given, [] for any value    {"enable_two_batch_overlap": []}
    environment        variable to its values, [] for any but "", 0, false   {"SGLANG_ENABLE_OVERLAP_PLAN_STREAM": []}
    package            distribution to a version specifier                   {"flashinfer-python": "<0.6.15"}

`kind` says what the hazard is tied to first of all: an `architecture`, a `package` version, or settings of the launch
(`switch`). `hazard_conditions` holds the conditions against a case.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from importlib.resources import files
from typing import Any

__all__ = ["CONDITIONS", "HAZARDS", "KINDS", "PROVENANCES", "Hazard", "of_kind", "parse"]

KINDS = ("architecture", "switch", "package")
PROVENANCES = ("measured here", "reported", "confirmed upstream")
CONDITIONS = ("arch", "algorithm", "attention_backend", "model_type", "number", "switch", "environment", "package")


@dataclass(frozen=True, slots=True, kw_only=True)
class Hazard:
    """One hazard.

    `id` is stable. `effect` says what happens, `cause` why (`not established` where nobody knows), `fix` what to
    change. `provenance` is one of PROVENANCES, `seen` the date of the report, `sources` public URLs.
    """

    id: str
    kind: str
    title: str
    effect: str
    cause: str
    provenance: str
    seen: str
    sources: tuple[str, ...]
    fix: tuple[str, ...]
    when: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.kind not in KINDS or self.provenance not in PROVENANCES:
            raise ValueError(f"hazard {self.id}: kind {self.kind!r} or provenance {self.provenance!r} is not known")
        if strange := set(self.when) - set(CONDITIONS):
            raise ValueError(f"hazard {self.id}: conditions {sorted(strange)} are not among {', '.join(CONDITIONS)}")
        if not self.when or not self.sources:
            raise ValueError(f"hazard {self.id}: a hazard has at least one condition and one source")


def parse(text: str) -> tuple[Hazard, ...]:
    """The hazards in a JSON table, sorted by id. Raises ValueError for an entry that is not a Hazard."""
    entries = json.loads(text)["hazards"]
    hazards = tuple(sorted((_hazard(entry) for entry in entries), key=lambda hazard: hazard.id))
    ids = [hazard.id for hazard in hazards]
    if len(set(ids)) != len(ids):
        raise ValueError(f"hazard ids are not unique: {ids}")
    return hazards


def _hazard(entry: Mapping[str, Any]) -> Hazard:
    names = {f.name for f in fields(Hazard)}
    if set(entry) != names:
        raise ValueError(f"hazard {entry.get('id')}: fields {sorted(set(entry) ^ names)} are missing or too many")
    return Hazard(**{**entry, "sources": tuple(entry["sources"]), "fix": tuple(entry["fix"])})


HAZARDS = parse((files("ddtree_doctor.fixtures") / "hazards" / "hazards.json").read_text(encoding="utf-8"))


def of_kind(kind: str) -> tuple[Hazard, ...]:
    """The hazards of one kind, sorted by id."""
    return tuple(hazard for hazard in HAZARDS if hazard.kind == kind)
