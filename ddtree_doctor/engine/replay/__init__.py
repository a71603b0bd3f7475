"""Replay on the CPU: a tape in place of a CUDA graph, and a watch on every address that a Triton kernel touches."""
