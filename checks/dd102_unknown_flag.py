"""DD102: a flag that this engine does not have."""

from __future__ import annotations

from collections.abc import Iterator

from ddtree_doctor.launch import nearest
from ddtree_doctor.launch.model import Flag
from ddtree_doctor.rule import Case, Check, Finding

_TREE_ON_DFLASH = ("serve with the fork or pull request of SGLang that gives DFLASH a tree",)
FORKS = {
    "--speculative-ddtree-": ("--plugin ddtree: judge with the doctor's own DDTREE", "serve with a fork that has it"),
    "--speculative-dflash-tree-": _TREE_ON_DFLASH,
    "--speculative-dflash-enable-ddtree": _TREE_ON_DFLASH,
    "--speculative-dflash-verify-budget": _TREE_ON_DFLASH,
}
"""Beginning of a flag that only forks have → what to do: no flag of a release is near to it in meaning."""


class UnknownFlag(Check):
    """The launch gives a flag that this engine does not have."""

    code = "DD102"
    refuses = True
    why = (
        "SGLang's command line refuses what it does not know and exits before it loads anything. A flag is unknown "
        "because it is misspelt, belongs to another release or fork, or was removed."
    )
    fix = ("remove the flag, or use the SGLang that has it",)
    references = ("https://docs.sglang.io/advanced_features/server_arguments.html",)

    def judge(self, case: Case) -> Iterator[Finding]:
        """Each flag that sets no field of the engine, with the nearest names that do."""
        engine = case.facts.engine
        if not engine.options:
            raise engine.not_known("options")
        for flag in case.facts.launch.flags:
            if flag.name is None:
                yield self._finding(case, flag, nearest(flag.option, engine.options))

    def _finding(self, case: Case, flag: Flag, near: tuple[str, ...]) -> Finding:
        version = case.facts.engine.version or ""
        owner = next((fork for prefix, fork in FORKS.items() if flag.option.startswith(prefix)), ())
        near = () if owner else near
        several = len([text for text in near if text.startswith(flag.option)]) > 1
        return self.found(
            flag.option,
            f"SGLang {version} has no {flag.option}"
            + (", and the name begins several flags" if several else "")
            + (f"; nearest: {', '.join(near)}" if near else ""),
            at=flag.location,
            fix=(*owner, *(f"{text}: if that is what is meant" for text in near[:1]), *self.fix),
            flag=flag.option,
            nearest=list(near),
            engine=version,
        )
