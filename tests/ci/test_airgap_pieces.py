import json
import subprocess
import sys

import pytest

from tests.ci.wheels import AIRGAP, make_wheel, script

pack = script("pieces").pack
LIMIT = 4000


@pytest.fixture
def bundle(tmp_path):
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    make_wheel(wheels, "small", {"small/__init__.py": b"here = 1\n", "shared/small.txt": b"s"})
    make_wheel(wheels, "twin", {"twin.py": b"here = 2\n", "shared/twin.txt": b"t"})
    make_wheel(wheels, "large", {"large.py": b"data = '" + bytes(range(65, 91)) * 400 + b"'\n"})
    return pack(wheels, tmp_path / "out", LIMIT, {"sglang": "x"}, AIRGAP / "install.py")


def install(home, *pieces):
    words = [sys.executable, str(pieces[0] / "install.py"), "--to", str(home), *map(str, pieces)]
    return subprocess.run(words, capture_output=True, text=True, check=False)


def test_no_piece_exceeds_the_limit_and_each_brings_installer_and_manifest(bundle):
    for piece in bundle:
        payload = [path for path in piece.iterdir() if path.name not in ("install.py", "manifest.json")]
        assert 0 < sum(path.stat().st_size for path in payload) <= LIMIT
        assert (piece / "install.py").exists()
    assert len(bundle) > 1


@pytest.mark.parametrize("at_once", [True, False], ids=["all at once", "one at a time"])
def test_what_was_packed_can_be_imported_on_the_other_side(bundle, tmp_path, at_once):
    home = tmp_path / "home"
    runs = [install(home, *bundle)] if at_once else [install(home, piece) for piece in bundle]
    assert [run.returncode for run in runs] == [*([4] * (len(runs) - 1)), 0], runs[-1].stderr
    said = subprocess.run(
        [
            "bash",
            "-c",
            f". {home}/activate.sh; {sys.executable} -c 'import small, twin, large; print(len(large.data))'",
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    assert said.stdout == "10400\n"
    assert {path.name for path in home.glob("**/shared/*")} == {"small.txt", "twin.txt"}


def test_a_damaged_piece_is_refused_before_anything_is_installed(bundle, tmp_path):
    name = next(iter(json.loads((bundle[0] / "manifest.json").read_text())["pieces"][0]["files"]))
    (bundle[0] / name).write_bytes(b"broken")
    run = install(tmp_path / "home", *bundle)
    assert run.returncode == 1
    assert "damaged" in run.stderr
    assert not (tmp_path / "home").exists()


def test_a_piece_without_its_manifest_is_refused(bundle, tmp_path):
    (bundle[0] / "manifest.json").unlink()
    run = install(tmp_path / "home", bundle[0])
    assert "copy the whole piece" in run.stderr
