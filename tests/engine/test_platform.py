"""The platform: its answers lead to the engine's own classes."""

from __future__ import annotations

from typing import Any

import pytest

from tests.engine.inside import JOB

pytestmark = [pytest.mark.engine, pytest.mark.slow]


def test_the_platform_answers_with_the_engines_own_classes_but_for_the_graph_backend(inside: dict[str, Any]):
    assert inside["platform"] == [
        *("RecordingPlatform", True, JOB.gpu_mib, "triton"),
        *("DecodeCudaGraphRunner", "RecordingBackend", "EAGLEDraftExtendCudaGraphRunner", False),
    ]
