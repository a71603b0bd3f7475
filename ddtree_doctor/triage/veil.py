"""Make a report fit to leave the machine: every text redacted, sanitised and on one line."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

from ddtree_doctor.redaction import HIDDEN, Redactor, is_secret_name
from ddtree_doctor.sanitize import one_line, sanitize
from ddtree_doctor.triage.report import Excerpt

__all__ = ["Veil"]

T = TypeVar("T")
TEXT_CAP = 600


class Veil:
    """Redacts all that one log gave; user names learnt from `texts` are hidden everywhere."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._redactor = Redactor()
        for text in texts:
            self._redactor.learn(text)

    def text(self, text: str) -> str:
        """One safe line."""
        return one_line(self._redactor.redact(one_line(text, 8 * TEXT_CAP)), TEXT_CAP)

    def over(self, value: T) -> T:
        """A dataclass, list, tuple, dict or text with every text in it made safe."""
        return self._over(value)  # type: ignore[no-any-return]

    def _over(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Excerpt):
            return replace(value, file=self.text(value.file), lines=self._lines(value.lines))
        if is_dataclass(value) and not isinstance(value, type):
            return replace(value, **{each.name: self._over(getattr(value, each.name)) for each in fields(value)})
        if isinstance(value, tuple | list):
            return type(value)(self._over(item) for item in value)
        if isinstance(value, dict):
            return {self.text(str(key)): self._named(str(key), item) for key, item in value.items()}
        return value

    def _lines(self, lines: tuple[str, ...]) -> tuple[str, ...]:
        """Lines that are redacted together: a private key spans several."""
        whole = self._redactor.redact(sanitize("\n".join(lines)))
        return tuple(one_line(line, TEXT_CAP) for line in whole.split("\n"))

    def _named(self, name: str, value: Any) -> Any:
        secret = is_secret_name(name) and value not in (None, True, False)
        return HIDDEN if secret else self._over(value)
