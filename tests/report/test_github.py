from hypothesis import given

from ddtree_doctor.report.github import SHOWN, to_github
from tests.report.hostile import texts
from tests.report.sample import report


def test_a_finding_is_an_annotation_at_its_flag():
    first = to_github(report()).splitlines()[0]
    assert first.startswith("::error title=DD201 budget-too-large,file=launch.sh,line=4::DDTREE/target_verify")


def test_what_exceeds_the_number_shown_is_counted():
    made = report()
    made["findings"] = [made["findings"][0]] * (SHOWN + 3)
    lines = to_github(made).splitlines()
    assert sum(line.startswith("::error") for line in lines) == SHOWN
    assert any("3 more findings of severity error" in line for line in lines)


@given(texts)
def test_no_text_can_start_a_command_of_its_own(text):
    commands = [line for line in to_github(report(text)).split("\n") if line.startswith("::")]
    assert [line.split(" ")[0] for line in commands] == ["::error", "::warning"]
