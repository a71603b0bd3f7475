import xml.etree.ElementTree as ET

from hypothesis import given

from ddtree_doctor.report.junit import to_junit
from tests.report.hostile import texts
from tests.report.sample import report


def test_each_check_is_a_test_case_with_its_outcome():
    suite = ET.fromstring(to_junit(report())).find("testsuite")
    outcome = {case.get("name").split()[0]: [child.tag for child in case] for case in suite}
    assert outcome == {
        "DD101": [],
        "DD108": ["system-out"],
        "DD113": ["skipped"],
        "DD201": ["failure"],
        "DD401": ["skipped"],
    }
    assert [suite.get(key) for key in ("tests", "failures", "errors", "skipped")] == ["5", "1", "0", "2"]


@given(texts)
def test_any_text_gives_well_formed_xml_with_the_same_cases(text):
    root = ET.fromstring(to_junit(report(text)).encode("utf-8"))
    assert len(root.findall(".//testcase")) == 5
