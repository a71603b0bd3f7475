"""A launch as users have it: parsed with bash's meaning, never executed."""

from ddtree_doctor.launch.reader import read, read_command, read_file
from ddtree_doctor.launch.table import nearest

__all__ = ["nearest", "read", "read_command", "read_file"]
