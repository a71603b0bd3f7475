"""Paths under the home directory shown as `~`: whose machine it was is nobody's business."""

from __future__ import annotations

import os
import re
from collections.abc import Callable

__all__ = ["home_hidden"]


def home_hidden(home: str | None = None) -> Callable[[str], str]:
    """A function that shows `home` (default: this user's) as `~` wherever a text names it as a whole path."""
    folder = (os.path.expanduser("~") if home is None else home).rstrip("/\\")
    if len(folder) < 2 or folder == "~":
        return lambda text: text
    named = re.compile(rf"(?<![\w.~/-]){re.escape(folder)}(?![\w.-])")
    return lambda text: named.sub("~", text) if folder in text else text
