import io

from hypothesis import given
from rich.console import Console

from ddtree_doctor.report.console import print_report
from tests.report.hostile import texts
from tests.report.sample import report


def shown(made, **kwargs):
    out = io.StringIO()
    print_report(made, Console(file=out, width=100, force_terminal=False), **kwargs)
    return out.getvalue()


def test_a_person_reads_verdict_then_finding_then_fix_then_the_unjudged():
    text = shown(report())
    order = [
        "BLOCKED",
        "DD201",
        "fix  --speculative-num-draft-tokens 33",
        "--ignore DD201",
        "▲ warning DD108",
        "Not judged",
    ]
    places = [text.index(word) for word in order]
    assert places == sorted(places)
    assert "DD113: config of draft: not in the local cache" in text


def test_each_replayed_role_has_a_line():
    text = shown(report())
    assert "2 scenarios, 3 passes, 2 hit their graph" in " ".join(text.split())
    assert text.index("replayed") < text.index("DDTREE/draft, 33 wide")


def test_verbose_lists_checks_that_passed_or_were_skipped():
    assert "DD401 deep-only" in shown(report(), verbose=True)
    assert "DD401 deep-only" not in shown(report())


@given(texts)
def test_no_escape_code_or_markup_of_the_user_reaches_the_terminal(text):
    made = shown(report(text))
    assert not any(mark in made for mark in ("\x1b", "\x07", "\u202e", "\x00"))
