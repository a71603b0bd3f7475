import json
from pathlib import Path

import pytest

from ddtree_doctor.cli.main import main

LAUNCHES = Path(__file__).parents[2] / "fixtures" / "launches"


class Doctor:
    """`doctor …` in this process: exit status, standard output, standard error."""

    def __init__(self, capfdbinary):
        self.capture = capfdbinary

    def __call__(self, *arguments):
        self.capture.readouterr()
        try:
            self.status = main([str(argument) for argument in arguments])
        except SystemExit as ended:
            self.status = ended.code
        seen = self.capture.readouterr()
        self.out, self.err = seen.out.decode(), seen.err.decode()
        return self.status

    @property
    def report(self):
        """What was written as JSON to standard output."""
        return json.loads(self.out)


@pytest.fixture
def doctor(capfdbinary):
    return Doctor(capfdbinary)


@pytest.fixture
def launch():
    """The path of a shipped launch by its name."""
    return lambda name: LAUNCHES / name
