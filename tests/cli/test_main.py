import subprocess
import sys

import pytest

from ddtree_doctor import __version__
from ddtree_doctor.cli import main as entry
from ddtree_doctor.cli.main import VERBS, main
from ddtree_doctor.errors import DoctorError, UsageError

HEAVY = ("torch", "sglang", "rich", "yaml", "numpy", "triton")


def loaded_by(program):
    script = f"import sys\n{program}\nprint(sorted(set({HEAVY!r}) & set(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return run.stdout.splitlines()[-1]


def test_importing_the_package_loads_nothing_heavy():
    assert loaded_by("import ddtree_doctor") == "[]"


def test_building_the_parser_loads_nothing_heavy():
    assert loaded_by("from ddtree_doctor.cli.main import parser; parser().format_help()") == "[]"


def test_help_names_every_verb_and_the_exit_statuses(doctor):
    assert doctor("--help") == 0
    assert all(verb in doctor.out for verb in VERBS)
    assert "2 usage" in doctor.out


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_help(doctor, verb):
    assert doctor(verb, "--help") == 0
    assert "usage: doctor" in doctor.out


def test_the_version_is_the_package_s(doctor):
    assert doctor("--version") == 0
    assert __version__ in doctor.out


@pytest.mark.parametrize("arguments", [[], ["nonsense"], ["check", "--no-such-flag"], ["env", "--", "sglang", "serve"]])
def test_a_command_line_that_is_none_is_a_usage_error(doctor, arguments):
    assert doctor(*arguments) == 2
    assert doctor.out == ""


@pytest.mark.parametrize(
    ("fault", "status", "says"),
    [
        (UsageError("launch x: is empty; give another"), 2, "doctor: launch x: is empty; give another\n"),
        (DoctorError("the tool gave up"), 3, "doctor: the tool gave up\n"),
        (KeyboardInterrupt(), 3, "doctor: interrupted; no verdict\n"),
        (ZeroDivisionError("division"), 3, "internal fault, no verdict: ZeroDivisionError: division"),
    ],
)
def test_whatever_a_verb_raises_has_a_promised_status_and_no_traceback(doctor, monkeypatch, fault, status, says):
    def broken(options):
        raise fault

    monkeypatch.setattr("ddtree_doctor.cli.rules.run", broken)
    assert doctor("rules") == status
    assert says in doctor.err
    assert "Traceback" not in doctor.err


def test_a_reader_that_went_away_is_no_crash():
    program = "from ddtree_doctor.cli.main import run; run()"
    doctor = subprocess.Popen(
        [sys.executable, "-c", program, "rules", "--json", "-"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    doctor.stdout.close()
    assert b"Traceback" not in doctor.stderr.read()
    assert doctor.wait() in (0, 3)


def test_the_module_is_the_command():
    run = subprocess.run(
        [sys.executable, "-m", "ddtree_doctor", "--version"], capture_output=True, text=True, check=True
    )
    assert run.stdout.strip().endswith(__version__)


def test_verbs_that_take_a_command_are_verbs():
    assert set(entry.TAKE_COMMAND) <= set(VERBS)
    assert main(["rules", "--json", "/dev/null"]) == 0
