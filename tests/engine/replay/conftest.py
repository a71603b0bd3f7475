import json
import os
import subprocess
import sys

import pytest


@pytest.fixture(scope="session")
def interpreted():
    """What `interpreted.py` saw: one process serves all tests, for TRITON_INTERPRET must be set before the import."""
    run = subprocess.run(
        [sys.executable, "-m", "tests.engine.replay.interpreted"],
        env={**os.environ, "TRITON_INTERPRET": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout.splitlines()[-1])
