"""ddtree-doctor: a verdict on a speculative-decoding launch before it costs GPU time.

Importing this package loads neither torch nor sglang nor rich.
"""

__all__ = ["__version__"]

__version__ = "0.1.0"
