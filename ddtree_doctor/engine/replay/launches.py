"""Triton launches in interpreter mode, seen from outside.

Seams: `triton.runtime.interpreter.GridExecutor.__call__(self, *args, **kwargs)` runs one launch, and
`triton.runtime.interpreter._patch_lang(fn)` gives `fn` an interpreted language (Triton 3.0 to 3.8).
TRITON_INTERPRET=1 must be set before triton is imported; where it is not, no launch goes through here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from triton.runtime import interpreter

__all__ = ["Observer", "interpret_for_good", "kernel_name", "observing_launches", "swapped"]

Observer = Callable[[Any, Callable[[], None], Sequence[Any], Mapping[str, Any]], None]
"""Called with (executor, proceed, args, kwargs) in place of the launch, which happens when it calls `proceed()`."""


@contextmanager
def observing_launches(observer: Observer) -> Iterator[None]:
    """Hand every Triton launch inside the block to `observer`; blocks nest, the innermost is asked first."""
    before = interpreter.GridExecutor.__call__

    def call(self: Any, *args: Any, **kwargs: Any) -> None:
        observer(self, lambda: before(self, *args, **kwargs), args, kwargs)

    with swapped(interpreter.GridExecutor, "__call__", call):
        yield


@contextmanager
def swapped(owner: Any, name: str, value: Any) -> Iterator[None]:
    """Set attribute `name` of `owner` inside the block and put back what was there."""
    before = getattr(owner, name)
    setattr(owner, name, value)
    try:
        yield
    finally:
        setattr(owner, name, before)


def kernel_name(executor: Any) -> str:
    """The kernel's function name, `_fwd_kernel`."""
    return str(getattr(executor.fn, "__name__", executor.fn))


def interpret_for_good() -> None:
    """Interpret Triton's language from now on: no launch, and no device function that it calls, does so anew.

    Triton patches its language for every launch and every call of a device function, which costs more than many a
    kernel does, and takes the patches back after a launch. This process runs nothing but interpreted kernels.
    """
    if not isinstance(interpreter._patch_lang, _PatchedOnce):
        interpreter._patch_lang = _PatchedOnce(interpreter._patch_lang)


class _PatchedOnce:
    """Stands for `_patch_lang`: patches for the first function of each module, and never takes that back."""

    def __init__(self, patch: Callable[[Any], Any]) -> None:
        self.patch = patch
        self.done: dict[int, Mapping[str, Any]] = {}

    def __call__(self, function: Any) -> _PatchedOnce:
        names = function.__globals__
        if id(names) not in self.done:
            self.done[id(names)] = names
            self.patch(function)
        return self

    def restore(self) -> None:
        """What a launch calls at its end."""
