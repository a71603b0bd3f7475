"""Whether a hazard's conditions hold for a case, and the finding that says so."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion

from ddtree_doctor.hazards import Hazard
from ddtree_doctor.knowledge import NotKnown
from ddtree_doctor.rule import Case, Check, Finding

__all__ = ["TESTS", "holds", "reports"]

Test = Callable[[Case, Any], bool]

OFF = ("", "0", "false", "no", "n", "off")
COMPARISONS = {">": operator.gt, ">=": operator.ge, "<": operator.lt, "<=": operator.le, "==": operator.eq}


def reports(check: Check, case: Case, hazards: Iterable[Hazard]) -> Iterator[Finding]:
    """A finding of `check` for each hazard that holds. Raises NotKnown, after those, for the first that may hold."""
    missing: NotKnown | None = None
    for hazard in hazards:
        try:
            if holds(hazard, case):
                yield _finding(check, case, hazard)
        except NotKnown as unknown:
            missing = missing or NotKnown(f"{unknown.subject}, for hazard {hazard.id}", unknown.why)
    if missing:
        raise missing


def holds(hazard: Hazard, case: Case) -> bool:
    """Whether every condition holds. Raises NotKnown where one is not known and none fails."""
    missing: NotKnown | None = None
    for name, wanted in hazard.when.items():
        try:
            if not TESTS[name](case, wanted):
                return False
        except NotKnown as unknown:
            missing = missing or unknown
    if missing:
        raise missing
    return True


def _finding(check: Check, case: Case, hazard: Hazard) -> Finding:
    switches = hazard.when.get("switch", {})
    found = check.found(
        hazard.id,
        f"{hazard.title}: {hazard.effect} ({hazard.provenance}, {hazard.seen}; cause: {hazard.cause})",
        at=case.at(*switches, "speculative_algorithm"),
        fix=hazard.fix,
        hazard=hazard.id,
        provenance=hazard.provenance,
        seen=hazard.seen,
        cause=hazard.cause,
        when=dict(hazard.when),
        sources=list(hazard.sources),
    )
    return replace(found, references=hazard.sources)


def _arch(case: Case, wanted: list[str]) -> bool:
    gpus = case.facts.host.gpus
    if not gpus:
        raise NotKnown("GPU architecture", case.facts.host.unknown.get("gpus", "no GPU was seen or named"))
    return any(gpu.arch in wanted for gpu in gpus)


def _algorithm(case: Case, wanted: list[str]) -> bool:
    return case.settings.algorithm.need() in wanted


def _attention_backend(case: Case, wanted: list[str]) -> bool:
    return case.settings.attention_backend.need() in wanted


def _model_type(case: Case, wanted: list[str]) -> bool:
    target = case.facts.target
    if target.unknown:
        raise NotKnown(f"config of {target.name}", target.unknown)
    inner = target.values.get("text_config")
    kinds = [target.values.get("model_type"), inner.get("model_type") if isinstance(inner, Mapping) else None]
    return any(kind in wanted for kind in kinds)


def _number(case: Case, wanted: Mapping[str, str]) -> bool:
    return all(_compares(case, name, bound) for name, bound in wanted.items())


def _compares(case: Case, name: str, bound: str) -> bool:
    match = re.fullmatch(r"(>=|<=|==|>|<)(\d+)", bound)
    if match is None:
        raise NotKnown(name, f"{bound!r} is no comparison with a number")
    number = getattr(case.settings, name).optional()
    return number is not None and bool(COMPARISONS[match[1]](number, int(match[2])))


def _switch(case: Case, wanted: Mapping[str, list[str]]) -> bool:
    return all(_given(case, name, values) for name, values in wanted.items())


def _given(case: Case, name: str, values: list[str]) -> bool:
    launch = case.facts.launch
    flag = launch.flag(name)
    if flag is None and name in launch.unknown:
        raise NotKnown(name, launch.unknown[name])
    if flag is None:
        return False
    if not values:
        return case.given.switch(name).value is not False if not flag.values else True
    return case.given.text(name).need() in values


def _environment(case: Case, wanted: Mapping[str, list[str]]) -> bool:
    return all(_set_to(case, name, values) for name, values in wanted.items())


def _set_to(case: Case, name: str, values: list[str]) -> bool:
    value = case.variable(name)
    return value in values if values else value.lower() not in OFF


def _package(case: Case, wanted: Mapping[str, str]) -> bool:
    return all(_version_in(case, name, specifier) for name, specifier in wanted.items())


def _version_in(case: Case, name: str, specifier: str) -> bool:
    package = case.facts.host.packages.get(name)
    version = case.facts.engine.version if name == "sglang" else package.version if package else None
    if version is None:
        raise NotKnown(f"version of {name}", "it is not installed here")
    try:
        return SpecifierSet(specifier).contains(version, prereleases=True)
    except (InvalidSpecifier, InvalidVersion) as error:
        raise NotKnown(f"version of {name}", f"{version!r} or {specifier!r} cannot be compared") from error


TESTS: Mapping[str, Test] = {
    "arch": _arch,
    "algorithm": _algorithm,
    "attention_backend": _attention_backend,
    "model_type": _model_type,
    "number": _number,
    "switch": _switch,
    "environment": _environment,
    "package": _package,
}
"""Condition → its test, which raises NotKnown where it cannot be decided."""
