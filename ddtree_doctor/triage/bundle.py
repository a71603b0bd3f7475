"""A bundle to send on: the report, redacted excerpts around each fault and the facts read, as one .tar.gz."""

from __future__ import annotations

import gzip
import io
import json
import tarfile

from ddtree_doctor.triage.as_json import to_json
from ddtree_doctor.triage.as_markdown import to_markdown
from ddtree_doctor.triage.report import TriageReport

__all__ = ["MEMBERS", "bundle"]

MEMBERS = ("report.json", "report.md", "excerpts.txt", "facts.json")


def bundle(report: TriageReport) -> bytes:
    """The archive's bytes. The same report gives the same bytes: no times, no owners."""
    contents = (to_json(report), to_markdown(report), _excerpts(report), _facts(report))
    packed = io.BytesIO()
    with (
        gzip.GzipFile(fileobj=packed, mode="wb", mtime=0) as squeezed,
        tarfile.open(fileobj=squeezed, mode="w") as archive,
    ):
        for name, text in zip(MEMBERS, contents, strict=True):
            data = text.encode()
            member = tarfile.TarInfo(f"triage/{name}")
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return packed.getvalue()


def _excerpts(report: TriageReport) -> str:
    parts = [
        f"== {each.file}, up to line {each.line}\n" + "\n".join(f"  {line}" for line in each.lines)
        for each in report.excerpts
    ]
    return "\n\n".join(parts) + "\n"


def _facts(report: TriageReport) -> str:
    return json.dumps({"files": report.files, "configuration": report.configuration}, indent=2, default=str) + "\n"
