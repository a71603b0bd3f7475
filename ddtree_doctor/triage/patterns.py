"""Every pattern that meets a log is compiled here and listed, so that one test can time them all.

Rules to keep: a pattern starts with a literal or is used with `match`; quantifiers over a class are bounded; no two
neighbouring quantifiers can match the same character. Lines are cut to LINE_CAP characters before any pattern runs.
"""

from __future__ import annotations

import re

__all__ = ["LINE_CAP", "SHIPPED", "clip", "pattern"]

LINE_CAP = 16 * 1024
"""Characters of one line that patterns get to see; only a configuration line is read further."""

SHIPPED: list[re.Pattern[str]] = []
"""Every compiled pattern, in order of definition."""


def clip(text: str, limit: int) -> str:
    """At most `limit` characters of `text`, ending between words: half a secret is not recognised as one."""
    return text if len(text) <= limit else text[: limit + 1].rpartition(" ")[0][:limit]


def pattern(text: str, flags: int = 0) -> re.Pattern[str]:
    """Compile `text` and list it."""
    compiled = re.compile(text, flags)
    SHIPPED.append(compiled)
    return compiled
