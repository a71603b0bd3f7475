import subprocess
import sys

import pytest

GOOD = "python -m sglang.launch_server --model-path Qwen/Qwen3-8B --tp-size 2\n"


@pytest.fixture
def run(tmp_path):
    """pytest on a folder of launch files, in a process of its own and with nothing else's configuration."""

    def run(files, *options):
        for name, text in files.items():
            (tmp_path / name).write_text(text)
        (tmp_path / "pytest.ini").write_text("[pytest]\n")
        words = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-rA", *options, str(tmp_path)]
        return subprocess.run(words, capture_output=True, text=True, check=False, cwd=tmp_path)

    return run


def test_every_check_on_a_launch_is_a_test(run):
    done = run({"good.sh": GOOD}, "--doctor", "--doctor-tier", "static", "--doctor-gpu", "H100x2")
    assert done.returncode == 0, done.stdout
    assert "PASSED good.sh::DD102-unknown-flag" in done.stdout
    assert "SKIPPED" in done.stdout


def test_a_blocking_finding_fails_its_test_with_the_finding_alone(run):
    done = run({"bad.sh": GOOD.replace("--tp-size", "--tp-sizes")}, "--doctor", "--doctor-tier", "static")
    assert done.returncode == 1
    assert "FAILED bad.sh::DD102-unknown-flag" in done.stdout
    assert "--tp-sizes" in done.stdout
    assert "Traceback" not in done.stdout


def test_where_no_engine_is_installed_the_release_s_facts_are_judged_as_on_the_command_line(run):
    absent = "from ddtree_doctor.engine.source import locate\nlocate._in_environment = lambda: None\n"
    done = run({"good.sh": GOOD, "conftest.py": absent}, "--doctor", "--doctor-gpu", "H100x2")
    assert done.returncode == 0, done.stdout
    assert "PASSED good.sh::DD102-unknown-flag" in done.stdout


def test_a_file_without_a_launch_is_a_collection_error_that_says_why(run):
    done = run({"empty.sh": ""}, "--doctor", "--doctor-tier", "static")
    assert done.returncode == 2
    assert "empty" in done.stdout


def test_without_the_option_launch_files_are_left_alone(run):
    done = run({"good.sh": GOOD})
    assert done.returncode == 5


def test_the_plugin_loads_nothing_heavy():
    script = (
        "import sys, ddtree_doctor.pytest_plugin\nprint(sorted({'torch', 'sglang', 'rich', 'yaml'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
