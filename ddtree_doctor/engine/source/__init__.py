"""The installed engine by its source alone: parsed, never imported."""

from ddtree_doctor.engine.source.read import read_engine

__all__ = ["read_engine"]
