from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.contract.engine_rule import Engine


@pytest.fixture(scope="session")
def engine() -> Iterator[Engine]:
    """SGLang's own functions, in a process of their own."""
    pytest.importorskip("sglang")
    with Engine() as process:
        yield process
