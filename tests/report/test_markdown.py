import re

from hypothesis import given

from ddtree_doctor.report.markdown import CAP, to_markdown
from tests.report.hostile import texts
from tests.report.sample import report


def test_verdict_comes_first_then_findings_ledger_and_what_was_not_judged():
    text = to_markdown(report())
    order = ["BLOCKED", "DD201", "DD108", "| algorithm / role", "Not judged"]
    places = [text.index(word) for word in order]
    assert places == sorted(places)


@given(texts)
def test_no_text_opens_a_tag_or_a_heading(text):
    made = to_markdown(report(text))
    headings = [line for line in made.split("\n") if line.startswith("#")]
    assert len(headings) == 3
    outside_code = re.sub(r"(`+).*?\1", "", made)
    assert "<script" not in outside_code


def test_a_huge_report_is_cut_with_a_notice():
    made = report()
    made["findings"] = made["findings"] * 9000
    text = to_markdown(made)
    assert len(text) < CAP + 200
    assert "cut:" in text
