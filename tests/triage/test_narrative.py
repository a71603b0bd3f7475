"""The incident note says what was seen, what speaks against, what is missing and what to do next."""

from tests.triage.logs import ARGS, IMA, SIZES, first, traceback

SIGQUIT = "[2026-05-11 12:00:23] Received sigquit from a child process. It usually means the child failed."


def test_the_strongest_signal_comes_first_with_file_and_line():
    note = first(ARGS, *traceback(SIZES))

    assert (note.evidence[0].file, note.evidence[0].line) == ("server.log", 5)
    assert note.evidence[0].text == SIZES
    assert note.evidence[1].line == 1
    assert "speculative_ddtree_budget=32" in note.evidence[1].text


def test_what_was_tried_and_did_not_fit_is_ruled_out_with_the_reason():
    ruled_out = {each.fault_class: each.why for each in first(ARGS, *traceback(SIZES)).ruled_out}

    assert "context-headroom" in ruled_out
    assert all(ruled_out.values())


def test_the_advice_on_memory_is_called_what_it_is():
    note = first(
        *traceback("Exception: Capture cuda graph failed: CUDA error: operation not permitted when stream is capturing")
    )

    assert note.fault_class == "illegal-op-in-capture"
    assert "memory-oom" in {each.fault_class for each in note.ruled_out}


def test_an_asynchronous_frame_is_named_and_not_blamed():
    note = first(*traceback(IMA))

    assert note.asynchronous
    assert "surfaced, not where it happened" in note.surfaced
    assert "CUDA_LAUNCH_BLOCKING=1" in note.next_step


def test_a_frame_that_can_be_trusted_is_just_named():
    assert first(ARGS, *traceback(SIZES)).surfaced.endswith("cuda_graph_runner.py:100 in replay_prepare")


def test_what_would_make_it_surer_is_said():
    assert any("server_args" in what for what in first(*traceback(SIZES)).missing)
    assert first(ARGS, *traceback(SIZES)).missing == ()


def test_a_log_of_echoes_asks_for_the_other_logs():
    note = first(SIGQUIT)

    assert note.confidence == "unknown"
    assert "every rank" in note.next_step


def test_echoes_are_counted_by_kind():
    again = [line.replace("TP3", f"TP{rank}") for rank in (4, 5) for line in traceback(SIZES)]

    [same, parent] = first(*traceback(SIZES), *again, SIGQUIT).echoes

    assert same.count == 2
    assert parent.why == "a parent reports that a child failed"


def test_a_fix_that_was_reverted_is_told():
    note = first(
        "server_args=ServerArgs(attention_backend='fa3')",
        *traceback(
            IMA,
            "model_executor/cuda_graph_runner.py:replay",
            "layers/attention/flashattention_backend.py:flash_attn_with_kvcache",
        ),
    )

    assert note.fault_class == "graph-pool-aliasing"
    assert note.reverted_in == ("https://github.com/sgl-project/sglang/pull/26550",)


def test_a_crash_fix_that_leaves_corruption_says_so():
    note = first(
        *traceback(
            "TypeError: 'NoneType' object cannot be interpreted as an integer",
            "managers/schedule_batch.py:set_mamba_track_indices_from_reqs",
        )
    )

    assert any("silent corruption" in each.risk for each in note.workarounds)


def test_a_traceback_without_its_end_says_so():
    note = first(*traceback(SIZES)[:-1])

    assert any("breaks off" in what for what in note.missing)
