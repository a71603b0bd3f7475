"""A user's own command as the judge of cases, with the exit statuses of `git bisect run`."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from ddtree_doctor.errors import DoctorError
from ddtree_doctor.reduction.scenarios import Scenarios

__all__ = ["SKIP", "Command"]

SKIP = 125
NOT_RUN = 126
"""From here on a shell says that it could not run the command, or that a signal ended it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """Whether a case fails by a shell command that is given the case's file. `text` writes that file for scenarios."""

    command: str
    text: Callable[[Scenarios], str]
    deadline: float

    def __call__(self, scenarios: Scenarios) -> bool:
        """True for any exit status from 1 to 124; 0 is good, 125 is skipped.

        Raises DoctorError for every other end, which says nothing of the case.
        """
        with TemporaryDirectory(prefix="ddtree-doctor-") as folder:
            file = Path(folder) / "case.py"
            file.write_text(self.text(scenarios), encoding="utf-8")
            try:
                status = subprocess.run(
                    f"{self.command} {shlex.quote(str(file))}",
                    shell=True,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    timeout=self.deadline,
                    check=False,
                ).returncode
            except subprocess.TimeoutExpired:
                raise DoctorError(
                    f"--check {self.command}: took longer than {self.deadline:g} s; see --timeout"
                ) from None
        if status < 0 or status >= NOT_RUN:
            raise DoctorError(f"--check {self.command}: ended with status {status}; 0 is good, 1 to 124 bad, 125 skip")
        return status not in (0, SKIP)
