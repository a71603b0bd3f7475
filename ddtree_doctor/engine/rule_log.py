"""What each capture list was computed from: SGLang's rule is called as ever, its inputs are noted beside its result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ddtree_doctor.engine import seams

__all__ = ["Listed", "RuleLog"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """One call of the rule. `sizes` is the very list it returned; `inputs` lacks what could not be read."""

    sizes: list[int]
    base: int | None
    inputs: dict[str, Any]


@dataclass(slots=True)
class RuleLog:
    """All calls of the rule since `listen`."""

    calls: list[Listed] = field(default_factory=list)

    def listen(self) -> None:
        """Note every call from now on, whichever module makes it."""
        seams.replace("capture list rule", self._noted)

    def of(self, sizes: list[int]) -> Listed | None:
        """The call that returned this very list, else the last that returned an equal one."""
        same = [call for call in self.calls if call.sizes is sizes]
        found = same or [call for call in self.calls if call.sizes == sizes]
        return found[-1] if found else None

    def _noted(self, rule: Callable[..., Any]) -> Callable[..., Any]:
        alignment = getattr(rule, "__globals__", {}).get("get_cuda_graph_batch_size_alignment")

        def get_batch_sizes_to_capture(model_runner: Any, *args: Any, **options: Any) -> Any:
            result = rule(model_runner, *args, **options)
            self.calls.append(_listed(result[0], model_runner, args, options, alignment))
            return result

        return get_batch_sizes_to_capture


def _listed(sizes: list[int], model_runner: Any, args: tuple[Any, ...], options: dict[str, Any], base: Any) -> Listed:
    widths = [*args, *(options[name] for name in seams.FIELDS["captured width"] if name in options), 1]
    # Until 0.5.22 the rules read the arguments, and are handed them.
    arguments = {"server_args": getattr(model_runner, "server_args", None)}
    gather = options.get("gathered_buffer_required")
    if gather is None:
        gather = _read(lambda: seams.call("gathered buffer", arguments))
    inputs = {
        "configured": _read(lambda: tuple(seams.field(_graph_config(model_runner).decode, "configured capture list"))),
        "pool": _read(lambda: seams.field(model_runner, "request pool").size),
        "width": widths[0],
        "attn_tp": _read(lambda: seams.find("parallel widths")().attn_tp_size),
        "attn_cp": _read(lambda: seams.find("parallel widths")().attn_cp_size),
        "gather": gather,
        "two_batch_overlap": _read(lambda: seams.find("execution options")().overlap.enable_two_batch_overlap),
    }
    align = base or seams.find("batch alignment")
    known = {**arguments, "gathered_buffer_required": gather}
    return Listed(
        sizes=sizes,
        base=_read(lambda: seams.fitted("batch alignment", align, known)),
        inputs={name: value for name, value in inputs.items() if value is not None},
    )


def _graph_config(model_runner: Any) -> Any:
    return seams.find("execution options")().graph.cuda_graph_config


def _read(read: Callable[[], Any]) -> Any:
    """What `read` gives, None where this release has it elsewhere: a rule that needs it says that it is missing."""
    try:
        return read()
    except (AttributeError, TypeError, seams.MovedSeam):
        return None
