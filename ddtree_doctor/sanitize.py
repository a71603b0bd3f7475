r"""Text that no sink can misread: no escape sequence, control or direction character of a log or launch gets through.

Invariants to keep: the result encodes as UTF-8, holds no control character but newline and tab, and sanitising it
again changes nothing. Whole terminal sequences are dropped; any other such character is shown (`\x1b`, `\u202e`)
rather than dropped, because dropping could join two harmless halves into something that is not.
"""

from __future__ import annotations

import re

__all__ = ["one_line", "sanitize"]

# CSI and OSC sequences end at their own terminators; the bodies are bounded, so a lone opener costs no rescan.
SEQUENCE = re.compile(r"\x1b(?:\[[0-9;:?<=>!]{0,64}[ -/]{0,4}[@-~]|\][^\x07\x1b\x9c]{0,512}(?:\x07|\x1b\\|\x9c))")
UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # C0 but tab and newline, DEL, C1
    "\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"  # invisible, separators, bidi
    "\ufffe\uffff"  # no characters at all: XML refuses them
    "\ud800-\udfff\U000e0000-\U000e007f]"  # lone surrogates (they do not encode), tag characters
)
RUNNER_COMMAND = re.compile(r"^(\s{0,64})(?=::)|(?<=##)(?=\[)")


def sanitize(text: str) -> str:
    """`text` without terminal sequences, every other unsafe character shown as an escape, line ends as newline."""
    return UNSAFE.sub(_shown, SEQUENCE.sub("", text.replace("\r\n", "\n")))


def one_line(text: str, limit: int = 400) -> str:
    """`text` sanitised, on one line of at most `limit` characters, that no CI runner reads as a command."""
    flat = " ".join(sanitize(text).split())
    flat = RUNNER_COMMAND.sub(r"\1\\", flat)
    return flat if len(flat) <= limit else f"{flat[: limit - 1]}…"


def _shown(found: re.Match[str]) -> str:
    point = ord(found.group())
    if found.group() == "\r":
        return "\\r"
    return f"\\x{point:02x}" if point < 0x100 else f"\\u{point:04x}" if point < 0x10000 else f"\\U{point:08x}"
