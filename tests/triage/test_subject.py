import pytest

from tests.triage.logs import ARGS, IMA, SIZES, subject, traceback

VLLM = (
    "non-default args: {'model': 'x', 'max_num_seqs': 512, 'max_num_batched_tokens': 2048, "
    "'speculative_config': {'method': 'dspark', 'num_speculative_tokens': 5}, "
    "'compilation_config': {'cudagraph_capture_sizes': [6, 12, 16]}}"
)


@pytest.mark.parametrize(
    ("frame", "phase"),
    [
        ("model_executor/cuda_graph_runner.py:capture_one_batch_size", "capture"),
        ("model_executor/cuda_graph_runner.py:replay_prepare", "replay"),
        ("model_executor/model_runner.py:profile_run", "profile"),
        ("managers/scheduler.py:event_loop_overlap", "runtime"),
        ("models/llama.py:forward", "startup"),
    ],
)
def test_the_phase_comes_from_the_frames_before_the_start_up_lines(frame, phase):
    assert subject(ARGS, *traceback(SIZES, frame)).phase == phase


def test_a_failed_capture_says_so_itself():
    assert subject(*traceback("Exception: Capture cuda graph failed: x", "models/llama.py:forward")).phase == "capture"


def test_the_engine_comes_from_the_frames_where_no_line_tells():
    assert subject(*traceback(SIZES)).engine == "sglang"


def test_an_asynchronous_error_is_named_unless_launches_block():
    assert subject(*traceback(IMA)).asynchronous
    assert not subject("+ export CUDA_LAUNCH_BLOCKING=1", *traceback(IMA)).asynchronous


def test_the_best_reading_is_the_first_verified_one():
    assert subject(ARGS, *traceback(SIZES)).best.row == "width"
    assert subject(*traceback(SIZES)).best.fit == "assumed"
    assert subject(*traceback("KeyError: 'x'")).best is None


def test_what_follows_from_several_settings():
    derived = subject(VLLM, *traceback(IMA)).derived

    assert derived["derived.query_rows_beyond_tokens"]
    assert derived["derived.unaligned_captures"]
    assert not any(subject(ARGS, *traceback(IMA)).derived.values())
