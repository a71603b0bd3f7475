import json

import pytest

from ddtree_doctor.cli.output import FORMAT_NAMES
from ddtree_doctor.report.formats import FORMATS, to_json
from tests.report.sample import report


def test_the_command_line_offers_every_format():
    assert tuple(FORMATS) == FORMAT_NAMES


def test_json_refuses_what_is_no_json_number():
    made = report()
    made["launches"][0]["probe"]["seconds"] = float("nan")
    with pytest.raises(ValueError, match="JSON"):
        to_json(made)


def test_json_keeps_the_object():
    made = report()
    assert json.loads(to_json(made)) == made
