"""Algorithms that the doctor adds to an unmodified SGLang. This table is read without importing it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from typing import Any

from ddtree_doctor.errors import UsageError
from ddtree_doctor.facts.model import Option

__all__ = ["PLUGINS", "Plugin", "plugin_named"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plugin:
    """One plugin. `algorithms` are those it adds, `options` the flags it declares.

    `register` is the dotted name of the function that adds it to the SGLang of this process. `about` says what it is
    for; `faulty` that it is a known fault, there to be found.
    """

    name: str
    about: str
    algorithms: tuple[str, ...]
    options: tuple[Option, ...] = ()
    register: str
    faulty: bool = False

    def load(self) -> Callable[[Mapping[str, Any]], None]:
        """The function that registers it, given its options' values by name. Imports SGLang."""
        module, _, name = self.register.partition(":")
        function: Callable[[Mapping[str, Any]], None] = getattr(import_module(module), name)
        return function


_DDTREE_OPTIONS = (
    Option(name="speculative_ddtree_budget", options=("--speculative-ddtree-budget",), type="int", default_known=True),
    Option(
        name="speculative_ddtree_block_size",
        options=("--speculative-ddtree-block-size",),
        type="int",
        default_known=True,
    ),
)

PLUGINS: Mapping[str, Plugin] = {
    plugin.name: plugin
    for plugin in (
        Plugin(
            name="ddtree",
            about="DDTREE: verify forwards a tree of budget + 1 tokens, the draft one block",
            algorithms=("DDTREE",),
            options=_DDTREE_OPTIONS,
            register="ddtree_doctor.engine.plugins.ddtree:register",
        ),
        Plugin(
            name="ddtree-width-from-block",
            about="the founding fault: DDTREE whose verify graph is sized by the draft's block",
            algorithms=("DDTREE",),
            options=_DDTREE_OPTIONS,
            register="ddtree_doctor.engine.plugins.ddtree:register_width_from_block",
            faulty=True,
        ),
    )
}


def plugin_named(name: str) -> Plugin:
    """The plugin of that name. Raises UsageError, listing those there are, if there is none."""
    if name in PLUGINS:
        return PLUGINS[name]
    near = get_close_matches(name, PLUGINS, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    raise UsageError(f"--plugin {name}: there is no such plugin{hint}; known are {', '.join(PLUGINS)}")
