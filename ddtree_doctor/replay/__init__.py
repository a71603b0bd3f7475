"""Behaviour: scenarios of verify passes as data, and what was seen when they ran. Imports neither torch nor sglang."""
