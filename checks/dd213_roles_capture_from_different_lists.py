"""DD213: draft and target capture from different lists or request pools."""

from __future__ import annotations

from collections.abc import Iterator

from ddtree_doctor.checks.observed import graphs
from ddtree_doctor.ledger import Row
from ddtree_doctor.rule import Case, Check, Finding

_SHARED = {"configured": "the configured list", "pool": "the request pool"}


class RolesCaptureFromDifferentLists(Check):
    """Roles of one launch capture from different configured lists or request pools."""

    code = "DD213"
    tier = "shape"
    why = (
        "One batch passes through draft and verify in turn. Where one of them has a graph for its size and the other "
        "has none, or pads it to another size, the step runs half eagerly, and buffers that both share have "
        "two sizes."
    )
    fix = ("in the engine: give every runner of a launch the same list and the same request pool",)

    def judge(self, case: Case) -> Iterator[Finding]:
        """What the runners were given, each role against the first."""
        (first, _), *others = graphs(case)
        for row, _ in others:
            for name, called in _SHARED.items():
                mine, theirs = row.inputs.get(name), first.inputs.get(name)
                if mine is not None and theirs is not None and _plain(mine) != _plain(theirs):
                    yield self.differ(row, first, called, mine, theirs)

    def differ(self, row: Row, first: Row, called: str, mine: object, theirs: object) -> Finding:
        """The finding: what each of the two roles was given."""
        return self.found(
            row.subject,
            f"{called} is {_plain(mine)} for {row.role} and {_plain(theirs)} for {first.role}",
            observed=_plain(mine),
            expected=_plain(theirs),
            against=first.subject,
        )


def _plain(value: object) -> object:
    return list(value) if isinstance(value, list | tuple) else value
