"""A launch as users have it: parsed with bash's meaning, never executed."""
