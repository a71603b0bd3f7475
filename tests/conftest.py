from __future__ import annotations

import pytest
from hypothesis import settings

# A machine that runs engines beside the tests has no steady clock: a slow example is no fault.
settings.register_profile("unhurried", settings.default, deadline=None)
settings.load_profile("unhurried")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what is marked `gpu` where the driver tells of none, and say what the driver said."""
    marked = [item for item in items if item.get_closest_marker("gpu")]
    if not marked:
        return
    from ddtree_doctor.facts.nvml import see_gpus

    seen = see_gpus()
    if not seen.gpus:
        why = pytest.mark.skip(reason=f"needs a GPU: {seen.unknown.get('gpus', 'none was seen')}")
        for item in marked:
            item.add_marker(why)
