"""How deep a run looks, cheapest first. Apart from everything else, so that the command line knows them at no cost."""

from __future__ import annotations

__all__ = ["TIERS"]

TIERS = ("static", "shape", "replay-cpu", "replay-gpu")
