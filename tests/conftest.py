from __future__ import annotations

from hypothesis import settings

# A machine that runs engines beside the tests has no steady clock: a slow example is no fault.
settings.register_profile("unhurried", settings.default, deadline=None)
settings.load_profile("unhurried")
