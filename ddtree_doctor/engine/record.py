"""From started workers to ledger rows: what each graph runner was seen to believe, allocate and capture."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ddtree_doctor.engine import seams
from ddtree_doctor.engine.backend import RecordingBackend, Taken
from ddtree_doctor.engine.buffers import buffers_of
from ddtree_doctor.engine.resolve import resolved
from ddtree_doctor.engine.roles import expected, roles_of
from ddtree_doctor.engine.start import Started
from ddtree_doctor.ledger import Captured, Ledger, Row

__all__ = ["recorded"]


def recorded(started: Started) -> Ledger:
    """The ledger of what was started: a row for each runner, and one that says why for each role without a runner."""
    rows = [row for backend in started.backends for row in _rows_of(started, backend)]
    seen = {row.role for row in rows}
    rows += [_absent(started, role) for role in _expected(started) if role not in seen]
    return Ledger(
        algorithm=started.job.algorithm,
        engine_version=_version(),
        rows=tuple(rows),
        substituted=started.job.substituted,
        resolved=resolved(started.arguments),
        sizes=_sizes(started),
    )


def _expected(started: Started) -> tuple[str, ...]:
    """The roles that should have a graph. A single step needs no draft forward: draft extend proposes its tokens."""
    roles = expected(started.job.checkpoints)
    once = "draft_extend" in roles and seams.find("speculation options")().speculative_num_steps == 1
    return tuple(role for role in roles if not (once and role == "draft"))


def _version() -> str:
    from importlib.metadata import version

    return version("sglang")


def _rows_of(started: Started, backend: RecordingBackend) -> Iterator[Row]:
    """A row for each role that this backend's runner plays; where a seam has moved, rows that name it."""
    runner = backend.runner
    on_draft = bool(seams.field(seams.field(runner, "model runner"), "draft worker or not"))
    for role in roles_of(runner, _mode(runner), on_draft=on_draft):
        try:
            yield _row(started, backend, role, "draft" if on_draft else "target")
        except seams.MovedSeam as moved:
            yield _unknown(started, role, str(moved))


def _row(started: Started, backend: RecordingBackend, role: str, worker: str) -> Row:
    runner = backend.runner
    sizes = seams.field(runner, "capture list")
    listed = started.lists.of(sizes)
    return Row(
        algorithm=started.job.algorithm,
        role=role,
        worker=worker,
        runner=type(runner).__name__,
        source=_source(type(runner)),
        mode=_mode(runner),
        tokens_per_bs=int(seams.field(runner, "captured width")),
        capture_bs=tuple(sizes),
        mul_base=listed.base if listed else None,
        gate_width=_gate_width(backend),
        dummy_width=_dummy_width(started, runner) if role == "target_verify" else None,
        inputs=listed.inputs if listed else {},
        captured=tuple(sorted(map(_captured, backend.taken.values()), key=lambda graph: graph.bs)),
        buffers=_buffers(runner),
        failed=started.failed if backend is started.backends[-1] else "",
    )


def _absent(started: Started, role: str) -> Row:
    return _unknown(started, role, started.failed or "the engine captured no graph for this role")


def _unknown(started: Started, role: str, why: str) -> Row:
    return Row(algorithm=started.job.algorithm, role=role, worker="draft" if "draft" in role else "target", unknown=why)


def _mode(runner: Any) -> str:
    return str(seams.field(runner, "capture mode").name)


def _source(runner: type) -> str:
    """`sglang/srt/….py:359`: where the class that is nearest to `runner` assigns its captured width."""
    for owner in runner.__mro__:
        line = _assigned(owner, seams.FIELDS["captured width"])
        if line is not None:
            return f"{_short(inspect.getsourcefile(owner) or owner.__module__)}:{line}"
    return f"{_short(inspect.getsourcefile(runner) or runner.__module__)}"


def _assigned(owner: type, names: tuple[str, ...]) -> int | None:
    try:
        lines, first = inspect.getsourcelines(owner)
    except (OSError, TypeError):
        return None
    for node in ast.walk(ast.parse(textwrap.dedent("".join(lines)))):
        targets = node.targets if isinstance(node, ast.Assign) else ()
        if any(isinstance(target, ast.Attribute) and target.attr in names for target in targets):
            return first + node.lineno - 1 if isinstance(node, ast.stmt) else None
    return None


def _short(file: str) -> str:
    """A path from the package's own folder on, the same on every machine."""
    parts = Path(file).parts
    start = max((parts.index(package) for package in ("sglang", "ddtree_doctor") if package in parts), default=0)
    return "/".join(parts[start:])


def _captured(taken: Taken) -> Captured:
    batch = _batch(taken)
    logits = getattr(taken.output, "next_token_logits", None)
    return Captured(
        bs=int(seams.field(batch, "batch size of a forward")),
        tokens=_rows(batch),
        key=str(taken.key),
        logits_rows=None if logits is None else int(logits.shape[0]),
        mask_numel=taken.mask_numel,
        inputs={name: tuple(value.shape) for name, value in _tensors(batch)},
    )


def _rows(batch: Any) -> int:
    """Token rows of a forward. EAGLE's draft gets its token ids step by step: there the positions count."""
    for name in seams.FIELDS["tokens of a forward"]:
        if (rows := getattr(batch, name, None)) is not None:
            return int(rows.shape[0])
    raise seams.MovedSeam("tokens of a forward", "moved", "the forward batch has neither token ids nor positions")


def _batch(taken: Taken) -> Any:
    """The forward batch that a captured forward closes over."""
    kind = seams.find("forward batch")
    cells = [cell.cell_contents for cell in getattr(taken.forward, "__closure__", None) or () if _full(cell)]
    found = next((value for value in cells if isinstance(value, kind)), None)
    if found is None:
        raise seams.MovedSeam("forward batch", "moved", "the captured forward closes over no forward batch")
    return found


def _full(cell: Any) -> bool:
    try:
        return cell.cell_contents is not None
    except ValueError:
        return False


def _tensors(batch: Any) -> Iterator[tuple[str, Any]]:
    import torch

    for name, value in vars(batch).items():
        if isinstance(value, torch.Tensor):
            yield name, value


def _gate_width(backend: RecordingBackend) -> int | None:
    """The width that admission compares, of the input that the runner captured with.

    A verify input has it from its constructor, so an unset one shows; a draft input gets it only when a batch is
    prepared, so at capture an unset one says nothing.
    """
    for taken in backend.taken.values():
        spec_info = seams.field(_batch(taken), "speculation input")
        if spec_info is not None:
            width = int(seams.field(spec_info, "width that admission compares"))
            return width if width > 0 or spec_info.is_verify_input() else None
    return None


def _dummy_width(started: Started, runner: Any) -> int | None:
    """The width of the input that verify warms up with, by SGLang's own function; None where it has none."""
    width, mask = int(seams.field(runner, "captured width")), seams.field(runner, "runner's buffers").custom_mask
    given = {
        "spec_algorithm": started.algorithm,
        "server_args": started.arguments,  # until 0.5.22
        "custom_mask": mask,
        "num_tokens_per_req": width,
        "is_draft_worker": False,
    }
    dummy = seams.call("dummy verify input", given)
    return None if dummy is None else int(seams.field(dummy, "width of a verify input"))


def _buffers(runner: Any) -> Any:
    pool = seams.field(seams.field(runner, "model runner"), "request pool")
    return buffers_of(runner, seams.field(runner, "runner's buffers"), _attention(runner), pool)


def _attention(runner: Any) -> Any:
    return seams.field(runner, "runner's attention backend")


def _sizes(started: Started) -> dict[str, Any]:
    runner = seams.field(started.target, "model runner")
    spec = seams.find("speculation options")()
    config = seams.field(runner, "model's config")
    return {
        "context_len": int(seams.field(config, "context length")),
        "vocab_size": int(seams.field(config, "vocabulary")),
        "hidden_size": int(seams.field(config, "hidden size")),
        "num_heads": int(seams.field(config, "attention heads")),
        "pool_size": int(seams.field(runner, "request pool").size),
        "page_size": seams.field(runner, "page size"),
        "steps": spec.speculative_num_steps,
        "topk": spec.speculative_eagle_topk,
        "draft_tokens": spec.speculative_num_draft_tokens,
    }
