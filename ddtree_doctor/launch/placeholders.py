"""Words that stand for something to be filled in, and other words known only at run time."""

from __future__ import annotations

import re

from ddtree_doctor.launch.secrets import REDACTED
from ddtree_doctor.launch.words import Field

__all__ = ["why_unknown"]

_PLACEHOLDERS = re.compile(
    r"<[A-Za-z][A-Za-z0-9_ .:/|-]{0,80}>|(?<![$\w])\{\{[^{}\n]{1,200}\}\}"
    r"|(?<![$\w\"'])\{[A-Za-z_][A-Za-z0-9_ -]{0,80}\}"
    r"|\bYOUR[_-][A-Za-z0-9_-]{1,80}|(?<![\w-])your-[a-z0-9-]{1,80}|(?:^|(?<==))/?path/to/\S{0,200}|^\.\.\.$|^…$"
)


def why_unknown(one: Field) -> str:
    """Why a word's value is not known before run time, "" where it is."""
    if one.why:
        return one.why
    if match := _PLACEHOLDERS.search(one.text):
        return f"{match.group()} is a placeholder to be filled in"
    if "*" in one.text and any(_is_pattern(piece.text, quoted=piece.quoted) for piece in one.pieces):
        return "the shell replaces * with the names of files"
    return ""


def _is_pattern(text: str, *, quoted: bool) -> bool:
    return not quoted and "*" in text.replace(REDACTED, "")
