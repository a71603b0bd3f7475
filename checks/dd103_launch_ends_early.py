"""DD103: flags that stand in the file and never reach the engine."""

from __future__ import annotations

from collections.abc import Iterator

from ddtree_doctor.launch.model import Launch
from ddtree_doctor.rule import Case, Check, Finding


class LaunchEndsEarly(Check):
    """The shell passes fewer or other flags than the file seems to mean."""

    code = "DD103"
    confidence = "likely"
    why = (
        "A comment or a space after a continuation backslash ends the command there: the flags below it become a "
        "command of their own and never reach SGLang, which then starts without them and says nothing. Two flags "
        "without a space between them are one unknown flag."
    )
    fix = ("move the comment to a line of its own above the command", "put a space between the flags")

    def judge(self, case: Case) -> Iterator[Finding]:
        """What the launch as probably meant has and the launch as the shell reads it has not."""
        launch = case.facts.launch
        if launch.intended is None:
            return
        lost, gained = _difference(launch, launch.intended)
        if not lost and not gained:
            return
        notes = launch.notes or launch.intended.notes
        yield self.found(
            "launch",
            f"{len(lost)} flag(s) of the file never reach SGLang: {', '.join(lost) or 'none'}"
            + (f"; passed instead: {', '.join(gained)}" if gained else "")
            + (f" ({notes[0].text.partition(';')[0]})" if notes else ""),
            at=notes[0].location if notes else launch.location,
            lost=lost,
            passed_instead=gained,
            notes=[note.text for note in notes],
        )


def _difference(passed: Launch, meant: Launch) -> tuple[list[str], list[str]]:
    """(flags only in `meant`, flags only in `passed`), each with its values, in order."""
    has, wants = _words(passed), _words(meant)
    return [text for text in wants if text not in has], [text for text in has if text not in wants]


def _words(launch: Launch) -> list[str]:
    return [" ".join((flag.option, *flag.values)) for flag in launch.flags]
