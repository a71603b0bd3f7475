"""A program for TRITON_INTERPRET=1: what tape and bounds see, as one JSON line. The tests beside it assert on that."""

import json
from dataclasses import asdict

import torch
import triton
import triton.language as tl
from triton.runtime import interpreter

from ddtree_doctor.engine.replay.bounds import Bounds
from ddtree_doctor.engine.replay.launches import interpret_for_good
from ddtree_doctor.engine.replay.tape import Tape


@triton.jit
def double(source, target, count, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < count
    tl.store(target + at, 2 * tl.load(source + at, mask=inside), mask=inside)


@triton.jit
def bump(target, index):
    tl.atomic_add(target + index, 1)


@triton.jit
def fill(table, count, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    base = tl.cast(tl.load(table + tl.program_id(0)), tl.pointer_type(tl.float32))
    tl.store(base + at, 1.0, mask=at < count)


def layers(count):
    """Two layers of four numbers, filled through a table of their addresses."""
    cache = [torch.zeros(4), torch.zeros(4)]
    table = torch.tensor([layer.data_ptr() for layer in cache], dtype=torch.uint64)
    fill[(2,)](table, count, BLOCK=8)
    return [layer.tolist() for layer in cache]


def launch(source, target, count, block=4):
    double[(triton.cdiv(count, block),)](source, target, count, BLOCK=block)


@triton.jit
def summed(one, other):
    return one + other


@triton.jit
def add_pairs(source, target, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(target + at, summed(tl.load(source + 2 * at), tl.load(source + 2 * at + 1)))


class Model:
    """A forward that mixes operators, views, an in-place write and a Triton launch."""

    def __init__(self):
        self.bias = torch.ones(6)

    def __call__(self, x):
        y = torch.empty(6)
        launch(x + self.bias, y, 6)
        y[2:4].mul_(10)
        return y.view(2, 3).sum(dim=1)


def replayed():
    """Captured at x = 0; replayed at x = 1, then with the bias written in place, then with the bias rebound."""
    model, x, tape = Model(), torch.zeros(6), Tape()
    with tape.recording():
        out = model(x)
    seen = {"captured": out.tolist()}
    x.fill_(1)
    tape.replay()
    seen["new_input"], seen["eager"] = out.tolist(), model(x).tolist()
    model.bias.fill_(2)
    tape.replay()
    seen["bias_in_place"], seen["bias_in_place_eager"] = out.tolist(), model(x).tolist()
    model.bias = torch.full((6,), 5.0)
    tape.replay()
    seen["bias_rebound"], seen["bias_rebound_eager"] = out.tolist(), model(x).tolist()
    return seen


def watched(run, **options):
    bounds = Bounds(**options)
    with bounds.watching():
        run()
    return {"count": bounds.count, "launches": bounds.launches, "strays": [asdict(stray) for stray in bounds.strays]}


def tape_watched():
    """A launch that strays by two, recorded unwatched and replayed under the watch."""
    pool, tape = torch.zeros(16), Tape()
    with tape.recording():
        launch(pool[:8], pool[8:12], 6)
    return watched(tape.replay)


def for_good():
    """What a launch that calls a device function gives before and after the language is interpreted for good."""
    pairs, results = torch.arange(8.0), []
    for _ in range(2):
        target = torch.zeros(4)
        add_pairs[(2,)](pairs, target, BLOCK=2)
        results.append(target.tolist())
        interpret_for_good()
    patched = interpreter._patch_lang
    interpret_for_good()
    return {"before": results[0], "after": results[1], "once": interpreter._patch_lang is patched}


def main():
    pool = torch.zeros(64)
    source, target = pool[:6], pool[32:38]
    outside = pool[48:]
    before = outside.clone()
    seen = {
        "tape": replayed(),
        "inside": watched(lambda: launch(source, target, 6)),
        "load": watched(lambda: launch(source, pool[40:48], 7)),
        "store": watched(lambda: launch(pool[:8], target, 7)),
        "atomic": watched(lambda: bump[(1,)](torch.zeros(2, dtype=torch.int32), 2)),
        "masked": watched(lambda: launch(source, target, 5, block=32)),
        "tape_watched": tape_watched(),
        "pointed": watched(lambda: layers(4)),
        "pointed_beyond": watched(lambda: layers(5)),
        "whole_memory": watched(lambda: launch(pool[:8], target, 7), storages=True),
        "beyond_whole_memory": watched(lambda: launch(source, pool[60:], 7), storages=True),
        "untouched": bool(torch.equal(outside, before)),
    }
    stored = torch.full((8,), -1.0)
    watched(lambda: launch(pool[:8], stored[:6], 8))
    seen["kept_from_memory"] = stored[6:].tolist()
    seen["for_good"] = for_good()
    print(json.dumps(seen))


if __name__ == "__main__":
    main()
