"""JUnit XML: one test case for each check, so that a CI shows passed and skipped checks too.

A finding is a `<failure>` where it blocks; warnings stand in `<system-out>`; UNKNOWN is an `<error>` where the check is
required and `<skipped>` elsewhere, as SKIPPED is.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Mapping
from typing import Any

from ddtree_doctor.sanitize import sanitize

__all__ = ["to_junit"]


def to_junit(report: Mapping[str, Any]) -> str:
    """The report as JUnit XML (xunit2 family), one suite for each launch."""
    root = ET.Element("testsuites", name="ddtree-doctor")
    for index, launch in enumerate(report["launches"]):
        checks = [check for check in report["checks"] if check["launch"] == index]
        name = sanitize(launch["file"] or f"launch {index}")
        suite = ET.SubElement(root, "testsuite", name=name)
        for check in checks:
            _case(suite, check, [f for f in report["findings"] if (f["launch"], f["code"]) == (index, check["code"])])
        _count(suite)
    _count(root)
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _case(suite: ET.Element, check: Mapping[str, Any], findings: list[Mapping[str, Any]]) -> None:
    case = ET.SubElement(suite, "testcase", classname=f"ddtree_doctor.{check['tier']}", name=_name(check))
    blocking = [f for f in findings if f["status"] == "failed" and f["severity"] == "error"]
    if blocking:
        failure = ET.SubElement(case, "failure", message=sanitize(blocking[0]["message"]))
        failure.text = "\n\n".join(_text(finding) for finding in blocking)
    elif check["status"] == "unknown" and check["required"]:
        ET.SubElement(case, "error", message=sanitize(check["reason"]))
    elif check["status"] in ("unknown", "skipped"):
        ET.SubElement(case, "skipped", message=sanitize(f"{check['status']}: {check['reason']}"))
    mild = [f for f in findings if f["severity"] != "error"]
    if mild:
        ET.SubElement(case, "system-out").text = "\n\n".join(_text(finding) for finding in mild)


def _name(check: Mapping[str, Any]) -> str:
    return f"{check['code']} {check['name']}"


def _text(finding: Mapping[str, Any]) -> str:
    fixes = "".join(f"\nfix: {fix}" for fix in finding["fix"])
    return sanitize(f"{finding['severity']}: {finding['subject']}: {finding['message']}\n{finding['why']}{fixes}")


def _count(element: ET.Element) -> None:
    """Set the totals that readers of JUnit files expect on suites."""
    element.set("tests", str(len(element.findall(".//testcase"))))
    for attribute, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        element.set(attribute, str(len(element.findall(f".//{tag}"))))
