"""What a rule is: one class in one file under `checks/`, a pure function of a case.

A rule reads facts, contract and ledger. It imports neither torch nor sglang and touches no file. It yields a Finding
for each thing that is wrong, yields nothing where all is well, raises NotApplicable where it has nothing to say, and
lets NotKnown pass where a value it needs is missing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from ddtree_doctor.contract.given import Given
from ddtree_doctor.contract.model import Contract, RoleContract, Settings
from ddtree_doctor.facts.model import Facts
from ddtree_doctor.knowledge import NotApplicable, NotKnown
from ddtree_doctor.launch.model import Location
from ddtree_doctor.ledger import Ledger, Row

__all__ = ["CONFIDENCES", "SEVERITIES", "Case", "Check", "Finding"]

SEVERITIES = ("error", "warning", "info")
CONFIDENCES = ("certain", "likely", "reported")


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that is wrong.

    `message` says what was seen with its numbers; `why` why that breaks; `fix` what to change (flags or commands);
    `evidence` the numbers, JSON values only; `location` where the user set it.
    """

    code: str
    name: str
    severity: str
    confidence: str
    subject: str
    message: str
    why: str
    fix: tuple[str, ...] = ()
    evidence: Mapping[str, Any] = field(default_factory=dict)
    references: tuple[str, ...] = ()
    location: Location = field(default_factory=Location)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """What a rule is asked about: one launch with all that is known of it. `ledger` is None below the shape tier."""

    facts: Facts
    contract: Contract
    ledger: Ledger | None = None

    @property
    def settings(self) -> Settings:
        """The settings the launch comes down to."""
        return self.contract.settings

    @property
    def given(self) -> Given:
        """What the launch itself says, flag by flag, over the engine's own defaults."""
        return Given(self.facts)

    def variable(self, name: str) -> str:
        """What the launch sets an environment variable to, "" where it does not. Raises NotKnown where it cannot be."""
        launch = self.facts.launch
        if why := launch.unknown.get(f"env {name}"):
            raise NotKnown(name, why)
        return launch.environment.get(name, "")

    def at(self, *names: str) -> Location:
        """Where the launch gives the first of the engine fields `names` that it gives, else where it begins."""
        launch = self.facts.launch
        return next((flag.location for name in names if (flag := launch.flag(name))), launch.location)

    def spelled(self, *names: str) -> str:
        """How this engine spells the first of the fields `names` that it has (releases rename flags): `--tp-size`."""
        options = (self.facts.engine.option(name) for name in names)
        return next((option.options[0] for option in options if option), f"--{names[0].replace('_', '-')}")

    def observed(self) -> Iterator[tuple[Row, RoleContract]]:
        """Each observed row with its demand. Raises NotKnown where nothing was observed at all."""
        if self.ledger is None:
            raise NotKnown("ledger", "the shape tier did not run")
        if self.ledger.unknown:
            raise NotKnown("ledger", self.ledger.unknown)
        for row in self.ledger.rows:
            demand = self.contract.role(row.role)
            if demand is not None and not row.unknown:
                yield row, demand


class Check:
    """One rule. The class docstring's first line says what was found, in the present tense.

    code        `DD108`: stable, never reused
    severity    of its findings; `certain` and `likely` errors block
    confidence  `certain` | `likely` | `reported` (a hazard somebody reported: warns, never blocks)
    tier        the cheapest tier that has what it needs
    required    whether UNKNOWN here means that the launch is not ready
    refuses     whether a finding means that the engine does not start, so that no deeper tier has anything to see
    why         why it breaks, in sentences for a person
    fix         what to change, each a flag or a command; `found(fix=…)` gives a better one with numbers
    references  public URLs
    """

    code: ClassVar[str]
    severity: ClassVar[str] = "error"
    confidence: ClassVar[str] = "certain"
    tier: ClassVar[str] = "static"
    required: ClassVar[bool] = False
    refuses: ClassVar[bool] = False
    since: ClassVar[str] = "0.1"
    why: ClassVar[str]
    fix: ClassVar[tuple[str, ...]] = ()
    references: ClassVar[tuple[str, ...]] = ()

    def judge(self, case: Case) -> Iterator[Finding]:
        """Yield what is wrong with `case`. Raises NotApplicable or NotKnown (see the module's text)."""
        raise NotImplementedError

    @classmethod
    def slug(cls) -> str:
        """`width-drops-batch-sizes`, from the class name."""
        return "".join(f"-{c.lower()}" if c.isupper() else c for c in cls.__name__).lstrip("-")

    @classmethod
    def title(cls) -> str:
        """The first line of the class docstring."""
        return (cls.__doc__ or "").strip().splitlines()[0]

    def found(
        self,
        subject: str,
        message: str,
        *,
        at: Location | None = None,
        fix: tuple[str, ...] | None = None,
        severity: str | None = None,
        confidence: str | None = None,
        **evidence: Any,
    ) -> Finding:
        """A finding of this rule about `subject`; `evidence` holds the numbers it rests on."""
        return Finding(
            code=self.code,
            name=self.slug(),
            severity=severity or self.severity,
            confidence=confidence or self.confidence,
            subject=subject,
            message=message,
            why=self.why,
            fix=self.fix if fix is None else fix,
            evidence=evidence,
            references=self.references,
            location=at or Location(),
        )

    def speculation(self, case: Case) -> str:
        """The algorithm. Raises NotApplicable without speculation, NotKnown where the algorithm is not known."""
        algorithm = case.settings.algorithm.need()
        if algorithm == "NONE":
            raise self.skip("no speculative decoding")
        return algorithm

    def skip(self, reason: str) -> NotApplicable:
        """The exception to raise where this rule has nothing to say: `raise self.skip("no draft model")`."""
        return NotApplicable(reason)
