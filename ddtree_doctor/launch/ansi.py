"""The escapes of `$'…'`."""

from __future__ import annotations

import re

__all__ = ["quote", "unescape"]

_ESCAPE = re.compile(
    r"\\(?:x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|([0-7]{1,3})|c(.)|(.))", re.DOTALL
)
_LETTERS = {
    "a": "\a",
    "b": "\b",
    "e": "\x1b",
    "E": "\x1b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
    "\\": "\\",
    "'": "'",
    '"': '"',
    "?": "?",
}
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


def unescape(text: str) -> str:
    """What the inside of `$'…'` stands for. A NUL ends it, as in bash."""
    return _ESCAPE.sub(_replace, text).partition("\0")[0]


def quote(text: str) -> str:
    """`text` as one shell word on one line."""
    if not _CONTROL.search(text):
        return "'" + text.replace("'", "'\"'\"'") + "'"
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return "$'" + _CONTROL.sub(lambda match: f"\\x{ord(match.group()):02x}", escaped) + "'"


def _replace(match: re.Match[str]) -> str:
    byte, short, long, octal, control, letter = match.groups()
    if byte or short or long:
        return _character(int(byte or short or long, 16))
    if octal:
        return _character(int(octal, 8) & 0xFF)
    if control:
        return _character(ord(control.upper()) & 0x1F if control != "?" else 0x7F)
    return _LETTERS.get(letter, "\\" + letter)


def _character(code: int) -> str:
    """The character, U+FFFD where there is none (surrogates cannot be printed)."""
    return chr(code) if code <= 0x10FFFF and not 0xD800 <= code <= 0xDFFF else "�"
