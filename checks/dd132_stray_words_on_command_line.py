"""DD132: words on the command line that no flag takes."""

from __future__ import annotations

from collections.abc import Iterator

from ddtree_doctor.rule import Case, Check, Finding

_KINDS = ("stray-words", "value-for-switch")
"""Notes of the launch that speak of such words. A missing value is DD119's, an ambiguous abbreviation DD102's."""


class StrayWordsOnCommandLine(Check):
    """The command line holds words, or lacks values, so that SGLang's argument parser refuses it."""

    code = "DD132"
    refuses = True
    why = (
        "SGLang's command line is read by argparse, which exits with status 2 before anything is loaded: on a word "
        "that no option takes, and on a switch with a value."
    )
    fix = ("quote a value that holds spaces; write switches without a value",)
    references = ("https://docs.python.org/3/library/argparse.html#exiting-methods",)

    def judge(self, case: Case) -> Iterator[Finding]:
        """One finding for each note of the launch that says what argparse refuses."""
        for note in case.facts.launch.notes:
            if note.kind in _KINDS:
                yield self.found("launch", note.text, at=note.location, kind=note.kind)
