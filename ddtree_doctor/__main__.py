"""`python -m ddtree_doctor` is `doctor`."""

from ddtree_doctor.cli.main import run

run()
