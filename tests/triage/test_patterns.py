"""Every shipped pattern takes twice as long on twice the text, not four times: on text made to trip it."""

import re
import time

import pytest

import ddtree_doctor.redaction
import ddtree_doctor.sanitize
import ddtree_doctor.triage.as_markdown
from ddtree_doctor.triage import triage_blocks
from ddtree_doctor.triage.catalogue import catalogue
from ddtree_doctor.triage.patterns import SHIPPED, clip

catalogue()
OTHERS = [
    each
    for module in (ddtree_doctor.redaction, ddtree_doctor.sanitize, ddtree_doctor.triage.as_markdown)
    for each in vars(module).values()
    if isinstance(each, re.Pattern)
]
PATTERNS = list(dict.fromkeys([*SHIPPED, *OTHERS]))
RATIO_MAX = 3.0
SIZE = 10_000
FLOOR_S = 1e-3
"""Below this the clock, not the pattern, decides."""
GENERIC = (
    "a",
    "A",
    "0",
    " ",
    "_",
    ".",
    "-",
    "/",
    "(",
    "[",
    '"',
    "'",
    "=",
    ":",
    ",",
    "\\",
    "<",
    "x.",
    "a1",
    "A_",
    "0.",
    "--",
    "''",
    'File "',
    "Error: ",
    "a=",
    "a:1 ",
    "(1",
    "[1,",
    " at ",
    "://",
    "@",
    "a@",
    "/home/",
    "-----BEGIN ",
    "eyJa.",
    "token",
    "token=",
    "\x1b[",
    "\x1b]",
    "1 != ",
    "12-",
    "server_args=(",
    "size of tensor a (1",
)


def trips(pattern: re.Pattern[str]) -> list[str]:
    """Pieces that, repeated, keep `pattern` busy: runs of characters, and the literals of the pattern itself."""
    literals = re.findall(r"[A-Za-z0-9 _./'\":=-]{2,}", pattern.pattern)
    return [*GENERIC, *dict.fromkeys(literals)]


def seconds(pattern: re.Pattern[str], text: str, runs: int) -> float:
    """The least of some runs: the machine has other work."""
    best = 1e9
    for _ in range(runs):
        began = time.thread_time()
        pattern.search(text)
        best = min(best, time.thread_time() - began)
    return best


def growth(pattern: re.Pattern[str], piece: str, size: int = SIZE) -> float:
    """How many times as long twice the text takes; 0 where it is too quick to tell."""
    text = piece * (size // len(piece))
    if seconds(pattern, text + text + "\0", 1) < FLOOR_S:
        return 0.0
    return seconds(pattern, text + text + "\0", 5) / max(seconds(pattern, text + "\0", 5), 1e-9)


@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda pattern: pattern.pattern[:60])
def test_time_grows_with_the_text(pattern):
    slow = {piece: ratio for piece in trips(pattern) if (ratio := growth(pattern, piece)) > RATIO_MAX}
    again = {piece: ratio for piece in slow if (ratio := growth(pattern, piece)) > RATIO_MAX}

    assert not again, f"{pattern.pattern}: {again}"


def test_the_test_itself_catches_a_quadratic_pattern():
    assert growth(re.compile(r"\s+$"), " ", 2_000) > RATIO_MAX


@pytest.mark.parametrize(
    "piece", ["(", "[", "{'a':", "server_args=ServerArgs(", "Traceback (most recent call last):\n", 'File "x"']
)
def test_the_whole_of_triage_grows_with_the_text(piece):
    def spent(size: int) -> float:
        text = (piece * (size // len(piece))).encode()
        began = time.thread_time()
        triage_blocks({"log": [text]})
        return time.thread_time() - began

    small, large = min(spent(200_000) for _ in range(3)), min(spent(400_000) for _ in range(3))

    assert large < 5.0
    assert large / small < RATIO_MAX or large < 0.2


@pytest.mark.parametrize(
    ("text", "limit", "clipped"),
    [("abc def", 20, "abc def"), ("abc def", 5, "abc"), ("abcdef", 3, ""), ("abc def", 3, "abc")],
)
def test_clip_ends_between_words(text, limit, clipped):
    assert clip(text, limit) == clipped
