import argparse
import os

import pytest

from ddtree_doctor.cli.output import require_one_stdout, write
from ddtree_doctor.errors import UsageError


def test_a_file_is_replaced_whole(tmp_path):
    target = tmp_path / "report.json"
    target.write_text("old")
    write("new\udcff", str(target))
    assert target.read_bytes() == b"new\\udcff"
    assert [path.name for path in tmp_path.iterdir()] == ["report.json"]


def test_a_path_that_cannot_be_written_is_named_and_nothing_is_lost(tmp_path):
    with pytest.raises(UsageError, match="nowhere"):
        write("x", str(tmp_path / "nowhere" / "report.json"))
    with pytest.raises(UsageError, match="cannot be written"):
        write("x", str(tmp_path))


def test_a_device_is_written_to_and_not_replaced():
    write("x", os.devnull)
    assert not os.path.isfile(os.devnull)


def test_two_formats_cannot_share_standard_output():
    both = argparse.Namespace(json="-", junit="-", sarif=None, markdown=None, github=None)
    with pytest.raises(UsageError, match="--json and --junit"):
        require_one_stdout(both)
    assert require_one_stdout(argparse.Namespace(json="-"))
    assert not require_one_stdout(argparse.Namespace(json="file"))
