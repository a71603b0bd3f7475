"""DD102: a flag that this engine does not have."""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from ddtree_doctor.launch.model import Flag
from ddtree_doctor.rule import Case, Check, Finding


class UnknownFlag(Check):
    """The launch gives a flag that this engine does not have."""

    code = "DD102"
    required = True
    why = (
        "SGLang's command line refuses what it does not know and exits before it loads anything. A flag is unknown "
        "because it is misspelt, belongs to another release or fork, or was removed."
    )
    fix = ("remove the flag, or use the SGLang that has it",)
    references = ("https://docs.sglang.io/advanced_features/server_arguments.html",)

    def judge(self, case: Case) -> Iterator[Finding]:
        """Each flag without a field of the engine. An unambiguous prefix of an option is one, as for argparse."""
        engine = case.facts.engine
        if not engine.options:
            raise engine.not_known("options")
        known = sorted({text for option in engine.options for text in option.options})
        for flag in case.facts.launch.flags:
            if flag.name is not None or not flag.option.startswith("--"):
                continue
            begins = [text for text in known if text.startswith(flag.option)]
            if len({engine_field for text in begins for engine_field in _fields(case, text)}) != 1:
                yield self._finding(case, flag, begins or difflib.get_close_matches(flag.option, known, n=3))

    def _finding(self, case: Case, flag: Flag, nearest: list[str]) -> Finding:
        nearest = nearest[:3]
        return self.found(
            flag.option,
            f"SGLang {case.facts.engine.version or ''} has no {flag.option}"
            + (f"; nearest: {', '.join(nearest)}" if nearest else ""),
            at=flag.location,
            fix=(*(f"{text} in place of {flag.option}" for text in nearest[:1]), *self.fix),
            flag=flag.option,
            nearest=nearest,
            engine=case.facts.engine.version,
        )


def _fields(case: Case, text: str) -> list[str]:
    """The engine fields that an option text sets."""
    return [option.name for option in case.facts.engine.options if text in option.options]
