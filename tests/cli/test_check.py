"""`doctor check` at the static tier; the deeper tiers are tested with the engine in test_check_engine.py."""

import gzip
import json
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

import ddtree_doctor.report
from tests.cli.conftest import LAUNCHES

SCHEMA = json.loads((Path(ddtree_doctor.report.__file__).parent / "schema.json").read_text())
SHIPPED = sorted(path.name for path in LAUNCHES.iterdir() if path.is_file() and path.suffix != ".md")
GOOD = "python -m sglang.launch_server --model-path Qwen/Qwen3-8B --tp-size 2"


@pytest.mark.parametrize("name", SHIPPED)
def test_every_shipped_launch_is_ready_and_its_report_validates(doctor, launch, name):
    text = launch(name).read_text()
    plugin = ["--plugin", "ddtree"] if "DDTREE" in text else []
    assert doctor("check", launch(name), "--tier", "static", *plugin, "--json", "-") == 0
    jsonschema.validate(doctor.report, SCHEMA)
    assert doctor.report["verdict"] == "ready"
    assert not [f for f in doctor.report["findings"] if f["severity"] == "error" or f["status"] == "unknown"]


def test_without_a_plugin_the_founding_launch_is_blocked_because_the_engine_has_no_ddtree(doctor, launch):
    assert doctor("check", launch("ddtree-b8-budget32.sh"), "--json", "-") == 1
    found = {finding["code"]: finding for finding in doctor.report["findings"]}
    assert "DDTREE" in found["DD101"]["message"]
    assert found["DD101"]["location"]["line"] > 1
    deeper = [check for check in doctor.report["checks"] if check["tier"] != "static"]
    assert {check["status"] for check in deeper} == {"skipped"}
    assert all("DD101" in check["reason"] for check in deeper)


def test_the_static_tier_loads_neither_torch_nor_sglang(launch):
    script = (
        "import sys\nfrom ddtree_doctor.cli.main import main\n"
        f"status = main(['check', {str(launch('dflash-qwen3-8b.sh'))!r}, '--tier', 'static', '--json', '/dev/null'])\n"
        "print(status, sorted({'torch', 'sglang', 'triton', 'transformers'} & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout.splitlines()[-1] == "0 []"


def test_a_command_after_a_double_dash_is_judged_as_it_stands(doctor):
    assert doctor("check", "--tier", "static", "--json", "-", "--", *GOOD.split()) == 0
    assert doctor.report["launches"][0]["tp"] == 2
    assert doctor.report["launches"][0]["file"] is None


def test_only_the_report_goes_to_standard_output(doctor):
    doctor("check", "--tier", "static", "--json", "-", "--", *GOOD.split())
    json.loads(doctor.out)
    assert doctor.err == ""


def test_every_format_has_the_same_exit_status(doctor, launch, tmp_path):
    faulty = launch("faulty/comment-after-backslash.sh")
    formats = ("json", "junit", "sarif", "markdown", "github")
    paths = {name: tmp_path / name for name in formats}
    asked = [word for name, path in paths.items() for word in (f"--{name}", path)]
    assert doctor("check", faulty, "--tier", "static", *asked) == 1
    assert all(path.stat().st_size for path in paths.values())
    for name in formats:
        assert doctor("check", faulty, "--tier", "static", f"--{name}", "-") == 1


def test_a_saved_bundle_gives_the_same_report_byte_for_byte(doctor, launch, tmp_path):
    bundle = tmp_path / "facts.json"
    first = doctor("check", launch("dspark-qwen3-14b.sh"), "--tier", "static", "--json", "-", "--facts-out", bundle)
    fresh = doctor.out
    assert doctor("check", "--facts", bundle, "--json", "-") == first
    assert doctor.out == fresh
    again = tmp_path / "again.json"
    doctor("check", "--facts", bundle, "--json", "-", "--facts-out", again)
    assert again.read_bytes() == bundle.read_bytes()


def test_a_rule_can_be_hidden_and_chosen(doctor, launch):
    file = launch("dspark-qwen3-14b.sh")
    doctor("check", file, "--tier", "static", "--json", "-")
    codes = {finding["code"] for finding in doctor.report["findings"]}
    assert codes
    doctor("check", file, "--tier", "static", "--json", "-", "--ignore", ",".join(codes))
    assert doctor.report["findings"] == []
    doctor("check", file, "--tier", "static", "--json", "-", "--select", "DD105")
    assert [check["code"] for check in doctor.report["checks"]] == ["DD105"]


def test_a_release_can_be_judged_where_none_is_installed(doctor, launch, monkeypatch):
    monkeypatch.setattr("ddtree_doctor.engine.source.locate._in_environment", lambda: None)
    assert doctor("check", launch("dflash-qwen3-8b.sh"), "--json", "-") == 0
    assert doctor.report["tier"] == "static"
    assert "DD003" in {finding["code"] for finding in doctor.report["findings"]}


def unusable(tmp_path):
    """Name → arguments of `doctor check` that cannot be used."""
    files = {
        "empty": b"",
        "blank": b"\n\n   \n",
        "binary": bytes(range(256)) * 40,
        "archive": gzip.compress(GOOD.encode()),
        "no launch": b"echo hello\nls -la\n",
        "only a comment": f"# {GOOD}\n".encode(),
        "unterminated quote": f"{GOOD} --api-key 'never closed\n".encode(),
        "nul": GOOD.encode() + b"\x00",
    }
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    with (tmp_path / "huge").open("wb") as file:
        file.truncate(100 << 20)
    (tmp_path / "good.sh").write_text(GOOD)
    (tmp_path / "bundle.json").write_text('{"schema": "something/1"}')
    (tmp_path / "config.json").write_text('{"vocab_size": 1e999, "hidden_size": ')
    good = tmp_path / "good.sh"
    return {
        **{name: [tmp_path / name] for name in (*files, "huge", "missing")},
        "folder": [tmp_path],
        "nothing": [],
        "both": [good, "--", "sglang", "serve"],
        "empty command": ["--"],
        "unknown plugin": [good, "--plugin", "nope"],
        "unknown gpu": [good, "--gpu", "nope"],
        "unknown code": [good, "--select", "DD999"],
        "nothing selected": [good, "--select", "DD101", "--ignore", "DD1"],
        "no time": [good, "--timeout", "0"],
        "unknown tier": [good, "--tier", "deep"],
        "two on standard output": [good, "--json", "-", "--sarif", "-"],
        "output nowhere": [good, "--tier", "static", "--json", tmp_path / "no" / "where"],
        "no bundle": ["--facts", tmp_path / "bundle.json"],
        "missing bundle": ["--facts", tmp_path / "none.json"],
        "bundle and launch": [good, "--facts", tmp_path / "bundle.json"],
        "corrupt config": [good, "--target-config", tmp_path / "config.json"],
        "missing config": [good, "--draft-config", tmp_path / "none.json"],
        "no engine there": [good, "--sglang", tmp_path],
    }


def test_what_cannot_be_used_gets_status_2_one_message_and_no_traceback(doctor, tmp_path, subtests):
    for name, arguments in unusable(tmp_path).items():
        with subtests.test(name):
            assert doctor("check", *arguments) == 2
            assert doctor.out == ""
            assert "Traceback" not in doctor.err
            message = [line for line in doctor.err.splitlines() if line.startswith("doctor")]
            assert len(message) == 1, doctor.err
