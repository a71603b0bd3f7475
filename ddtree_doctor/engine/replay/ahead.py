"""What the target says behind each of some prompts, token by token, by plain forwards."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ddtree_doctor.engine.replay.batches import Extend, extend_batch

if TYPE_CHECKING:
    from ddtree_doctor.engine.replay.stage import Stage

__all__ = ["following"]


def following(stage: Stage, lengths: Sequence[int], count: int) -> list[tuple[int, ...]]:
    """The `count` most probable next tokens, each with those before it in the text.

    The prompts are the stage's own: `stage.text(at, lengths[at])`. The stage is clear before and after.
    """
    stage.clear()
    texts = [list(stage.text(slot, length)) for slot, length in enumerate(lengths)]
    computed = [0] * len(texts)
    for _ in range(count):
        extends = [
            Extend(
                row=stage.slots.row(slot),
                prefix=done,
                tokens=tuple(text[done:]),
                slots=stage.slots.of(slot, len(text))[done:],
            )
            for slot, (text, done) in enumerate(zip(texts, computed, strict=True))
        ]
        output = stage.runner.forward(extend_batch(stage.runner, extends)).logits_output
        computed = [len(text) for text in texts]
        for text, token in zip(texts, output.next_token_logits.argmax(dim=-1).tolist(), strict=True):
            text.append(token)
    stage.clear()
    return [tuple(text[length:]) for text, length in zip(texts, lengths, strict=True)]
