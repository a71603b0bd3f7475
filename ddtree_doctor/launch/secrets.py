"""Which words are secret, and what stands in their place from the moment they are read."""

from __future__ import annotations

import json
import re

from ddtree_doctor.redaction import HIDDEN, SHAPE, is_secret_name

__all__ = ["REDACTED", "Vault", "glued_secret", "is_secret_name", "redact_text", "secret_option"]

REDACTED = HIDDEN

MIN_SCRUBBED = 8
"""Shorter secrets are not looked for inside other words: they would hit by chance."""

MIN_WHOLE = 4
"""Shorter words are no secrets even where they stand alone: `--api-key 1` says nothing about DEBUG=1."""

MAX_SECRETS = 1000

SHORTEST_SHAPE = 14
"""Length of the shortest text that `SHAPE` matches."""

_GLUED = re.compile(r"^(--?[\w-]*?(?:api[-_]?key|password|secret))(?![\w-]*=)(.+)$", re.IGNORECASE | re.DOTALL)
_ENDS_WITH_OPTION = re.compile(r"--?([A-Za-z][\w-]{0,80})(=?)$")
_URL = re.compile(r"(?<![A-Za-z0-9+.-])([A-Za-z][A-Za-z0-9+.-]{0,30}://)([^/\s@'\"]{1,2000})@")
_QUERY = re.compile(
    r"([?&;][^=&;?\s'\"]{0,40}(?:token|key|secret|password|signature|sig|auth)=)([^&\s'\"]{1,4000})", re.IGNORECASE
)
_MEMBER = re.compile(r"([\"'])([\w-]{1,60})\1(\s{0,9}:\s{0,9})(?:\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*')")
_BEARER = re.compile(r"\b(Bearer|Basic)(\s+)[A-Za-z0-9+/=._~-]{8,}", re.IGNORECASE)


def secret_option(word: str) -> bool:
    """Whether `word` ends with an option whose value is secret: `--api-key`, also glued to what is before it."""
    match = _ENDS_WITH_OPTION.search(word[-100:])
    return bool(match) and is_secret_name(match.group(1)) if match else False


def redact_text(text: str) -> str:
    """Hide what is secret by its form: URLs with a password, tokens of known shape, secret members of JSON."""
    if "://" in text:
        text = _QUERY.sub(rf"\g<1>{REDACTED}", _URL.sub(rf"\g<1>{REDACTED}@", text))
    if ":" in text and ('"' in text or "'" in text):
        text = _MEMBER.sub(_member, text)
    if " " in text:
        text = _BEARER.sub(rf"\g<1>\g<2>{REDACTED}", text)
    return SHAPE.sub(REDACTED, text) if len(text) >= SHORTEST_SHAPE else text


def glued_secret(word: str) -> str | None:
    """`--api-key` where `word` is that option with its value glued on, None otherwise."""
    match = _GLUED.match(word[:4096])
    return match.group(1) if match else None


class Vault:
    """The secrets met so far, so that they are hidden wherever else they stand. Never part of a result."""

    def __init__(self) -> None:
        self._secrets: set[str] = set()
        self._whole: set[str] = set()
        self._pattern: re.Pattern[str] | None = None

    def keep(self, secret: str) -> None:
        """Hide `secret` from now on."""
        if secret == REDACTED or len(secret) < MIN_WHOLE or len(self._whole) >= MAX_SECRETS:
            return
        self._whole.add(secret)
        if len(secret) >= MIN_SCRUBBED:
            self._secrets.add(secret)
            self._pattern = None

    def holds(self, text: str) -> bool:
        """Whether the whole of `text` is a secret met so far."""
        return text in self._whole

    def scrub(self, text: str) -> str:
        """`text` without any secret met so far, and without what is secret by its form."""
        if not self._secrets:
            return redact_text(text)
        if self._pattern is None:
            longest = sorted(self._secrets, key=len, reverse=True)
            self._pattern = re.compile("|".join(map(re.escape, longest)))
        return redact_text(self._pattern.sub(REDACTED, text))


def _member(match: re.Match[str]) -> str:
    quote, name, colon = match.groups()
    return f"{quote}{name}{quote}{colon}{json.dumps(REDACTED)}" if is_secret_name(name) else match.group()
