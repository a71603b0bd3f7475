"""SARIF 2.1.0, for code-scanning views. Each finding points at the flag in the launch file that it is about.

GitHub's reader wants at least one physical location per result and fingerprints that do not move with volatile text:
https://docs.github.com/en/code-security/code-scanning/integrating-with-code-scanning/sarif-support-for-code-scanning
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from ddtree_doctor.sanitize import sanitize

__all__ = ["to_sarif"]

LEVELS = {"error": "error", "warning": "warning", "info": "note"}
SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def to_sarif(report: Mapping[str, Any]) -> str:
    """The report as SARIF: rules from the checks, one result for each finding."""
    rules = {check["code"]: check for check in report["checks"]}
    run = {
        "tool": {
            "driver": {
                "name": report["tool"]["name"],
                "version": report["tool"]["version"],
                "rules": [_rule(rules[code]) for code in sorted(rules)],
            }
        },
        "invocations": [{"executionSuccessful": True, "exitCode": report["exit_code"]}],
        "results": [_result(finding, report) for finding in report["findings"]],
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _rule(check: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "id": check["code"],
        "name": check["name"],
        "shortDescription": {"text": check["title"]},
        "defaultConfiguration": {"level": LEVELS[check["severity"]]},
    }


def _result(finding: Mapping[str, Any], report: Mapping[str, Any]) -> dict[str, Any]:
    launch = report["launches"][finding["launch"]]
    location = finding["location"]
    uri = location["file"] or launch["file"] or "command-line"
    text = f"{finding['message']} {finding['why']}" + "".join(f" Fix: {fix}" for fix in finding["fix"])
    return {
        "ruleId": finding["code"],
        "level": LEVELS[finding["severity"]],
        "message": {"text": sanitize(f"{finding['subject']}: {text}")},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": uri},
                    "region": {"startLine": location["line"] or launch["line"] or 1},
                }
            }
        ],
        "partialFingerprints": {"ddtreeDoctor/v1": _fingerprint(finding, uri)},
    }


def _fingerprint(finding: Mapping[str, Any], uri: str) -> str:
    stable = "\0".join((finding["code"], finding["subject"], uri))
    return hashlib.sha256(stable.encode(errors="backslashreplace")).hexdigest()[:32]
