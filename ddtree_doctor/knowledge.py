"""Values that may be unknown, and how a rule meets one.

A rule that needs a value calls `Value.need()`. If the value is not known the rule ends as UNKNOWN with that
value's name and the reason: only what depends on a missing value stays unjudged.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

__all__ = ["NotApplicable", "NotKnown", "Value"]

T = TypeVar("T")


class NotKnown(Exception):
    """A rule met a value that is not known. `subject` names it, `why` says what is missing."""

    def __init__(self, subject: str, why: str) -> None:
        super().__init__(f"{subject}: {why}")
        self.subject = subject
        self.why = why


class NotApplicable(Exception):
    """A rule does not speak about this case; the text says why (it becomes the reason of SKIPPED)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Value(Generic[T]):
    """One setting: what it is, or why that is not known.

    `origin` is `given` (on the command line), `default`, `config` (a model's config.json), `forced` (the algorithm
    fixes it), `derived` or `unknown`. A value of None with another origin than `unknown` means: known to be unset.
    """

    name: str
    value: T | None = None
    origin: str = "unknown"
    why: str = ""

    @property
    def known(self) -> bool:
        """Whether the value is known (None can be a known value: unset)."""
        return self.origin != "unknown"

    def optional(self) -> T | None:
        """The value, None where it is known to be unset. Raises NotKnown if it is not known."""
        if not self.known:
            raise NotKnown(self.name, self.why or "not known")
        return self.value

    def need(self) -> T:
        """The value. Raises NotKnown if it is unknown or unset."""
        if self.value is None:
            raise NotKnown(self.name, self.why or "not set")
        return self.value
