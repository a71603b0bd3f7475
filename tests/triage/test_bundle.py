import gzip
import io
import json
import tarfile

from ddtree_doctor.triage.bundle import MEMBERS, bundle
from tests.triage.logs import SIZES, diagnose, traceback

SECRET = "sk-CANARY0123456789abcdef"
LINES = (
    f"server_args=ServerArgs(model_path='/home/mwilson/kimi', api_key='{SECRET}', tp_size=8)",
    f"[2026-05-11 12:00:01] Authorization: Bearer {SECRET}",
    "[2026-05-11 12:00:01] for mwilson",
    *traceback(f"{SIZES} token={SECRET}"),
)


def unpacked(data):
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:gz") as archive:
        return {member.name: archive.extractfile(member).read().decode() for member in archive.getmembers()}


def test_it_holds_report_excerpts_and_facts():
    files = unpacked(bundle(diagnose(*LINES)))

    assert list(files) == [f"triage/{name}" for name in MEMBERS]
    assert json.loads(files["triage/report.json"])["verdict"] == "fault"
    assert json.loads(files["triage/facts.json"])["configuration"]["tp_size"] == 8
    assert "event_loop_overlap" in files["triage/excerpts.txt"]


def test_no_canary_is_in_it():
    data = bundle(diagnose(*LINES))

    for word in (SECRET.encode(), b"mwilson"):
        assert word not in gzip.decompress(data)


def test_the_same_report_gives_the_same_bytes():
    report = diagnose(*LINES)

    assert bundle(report) == bundle(report)
