"""The sizes that an error message complains of, whichever words it uses."""

from __future__ import annotations

from dataclasses import dataclass

from ddtree_doctor.triage.patterns import pattern

__all__ = ["Mismatch", "mismatches"]

N = r"(\d{1,12})"
AT = rf"(?: at non-singleton dimension {N})?"
REST = r"[^\]\n]{0,80}\]"
# Two groups, the size that was there and the size that was asked for; a third is the dimension.
PAIRS = tuple(
    pattern(text)
    for text in (
        rf"size of tensor a \({N}\) must match the size of tensor b \({N}\){AT}",
        rf"expanded size of the tensor \({N}\) must match the existing size \({N}\){AT}",
        rf"had shape \[{N}{REST}, which does not match the required output shape \[{N}",
        rf"output with shape \[{N}{REST} doesn't match the broadcast shape \[{N}",
        rf"shape of the mask \[{N}{REST} at index \d does not match the shape of the indexed tensor \[{N}",
        rf"at dimension \d{{1,2}} is {N} but size is {N}",
        rf"shape mismatch: [^\[\n]{{0,80}}\[{N}[^\[\n]{{0,120}}\[{N}",
        rf"\({N}\) (?:does not match|(?:must|should) (?:match|be equal to)|!=) [^\n(]{{1,80}}\({N}\)",
    )
)
CONCAT = pattern(rf"Expected size {N} but got size {N} for tensor number")
CAPACITY = pattern(rf"used {N} > capacity {N}")
# The same as PAIRS, with the size that was asked for first.
REVERSED = (
    pattern(rf"length \({N}\) exceeds dimension size \({N}\)"),
    pattern(rf"value tensor of shape \[{N}{REST} cannot be broadcast to indexing result of shape \[{N}"),
)
LENGTHS = pattern(rf"length of (\w{{1,60}}): {N} != length of (\w{{1,60}}): {N}")
VIEW = pattern(rf"shape '\[([-\d, ]{{1,80}})\]' is invalid for input of size {N}")
MATMUL = pattern(rf"cannot be multiplied \({N}x{N} and {N}x{N}\)")
NAMED = pattern(r"\b(\w{1,60})\.shape ?= ?(?:torch\.Size\()?\[(\d{1,12})")
BOUND = pattern(rf"index out of bounds: 0 <= [^\n<]{{1,120}} < {N}")
LOOSE = pattern(rf"(?:assert |Error: ){N} (?:!=|==|vs\.?) {N}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Mismatch:
    """`had` is the size that was there, `wanted` the one asked for; for a view `shape` and `wanted` elements.

    `kind`: `pair`, `concat`, `capacity`, `lengths`, `view`, `matmul` (columns against rows), `named` (lengths of named
    tensors), `bound` (an index limit in `had`). `names` are what the message calls the two.
    """

    kind: str
    had: int
    wanted: int
    dimension: int | None = None
    shape: tuple[int, ...] = ()
    names: tuple[str, str] = ("", "")


def mismatches(text: str) -> tuple[Mismatch, ...]:
    """Every pair of sizes that `text` complains of, as it comes in the order of the tables."""
    found = [_pair("pair", hit.groups()) for words in PAIRS for hit in words.finditer(text)]
    found += [_pair("concat", hit.groups()) for hit in CONCAT.finditer(text)]
    found += [_pair("capacity", hit.groups()[::-1]) for hit in CAPACITY.finditer(text)]
    found += [_pair("pair", hit.groups()[::-1]) for words in REVERSED for hit in words.finditer(text)]
    found += [
        Mismatch(kind="lengths", had=int(hit[2]), wanted=int(hit[4]), names=(hit[1], hit[3]))
        for hit in LENGTHS.finditer(text)
    ]
    found += [_view(hit[1], int(hit[2])) for hit in VIEW.finditer(text)]
    found += [Mismatch(kind="matmul", had=int(hit[3]), wanted=int(hit[2])) for hit in MATMUL.finditer(text)]
    found += [Mismatch(kind="bound", had=int(hit[1]), wanted=0) for hit in BOUND.finditer(text)]
    found += _named(text)
    found += [] if found else [Mismatch(kind="pair", had=int(h[1]), wanted=int(h[2])) for h in LOOSE.finditer(text)]
    first = {(size.kind, size.had, size.wanted): size for size in reversed(found)}
    return tuple(size for size in dict.fromkeys(found) if first[size.kind, size.had, size.wanted] is size)


def _pair(kind: str, groups: tuple[str | None, ...]) -> Mismatch:
    had, wanted, *dimension = groups
    at = int(dimension[0]) if dimension and dimension[0] else None
    return Mismatch(kind=kind, had=int(had or 0), wanted=int(wanted or 0), dimension=at)


def _view(shape: str, elements: int) -> Mismatch:
    sizes = tuple(int(part) for part in shape.split(",") if part.strip(" -").isdigit() and "- " not in part)
    return Mismatch(kind="view", had=sizes[1] if len(sizes) > 1 else 0, wanted=elements, shape=sizes)


def _named(text: str) -> list[Mismatch]:
    """Two different lengths among named tensors: the commonest against the odd one out."""
    sizes = {hit[1]: int(hit[2]) for hit in NAMED.finditer(text)}
    values = sorted(set(sizes.values()), key=lambda size: -list(sizes.values()).count(size))
    if len(values) != 2:
        return []
    first, second = (next(name for name, size in sizes.items() if size == value) for value in values)
    return [Mismatch(kind="named", had=values[0], wanted=values[1], names=(first, second))]
