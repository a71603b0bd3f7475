"""The static rules see the launch that the log prints."""

from ddtree_doctor.triage.precheck import launch_of, precheck
from tests.triage.logs import ARGS, SIZES, first, reading_of, traceback


def setup(*lines):
    return reading_of(*lines).runs[0].setup


def test_a_launch_comes_out_of_the_server_args_line():
    launch = launch_of(setup("x", ARGS))

    assert launch.flag("speculative_ddtree_budget").values == ("32",)
    assert (launch.location.file, launch.location.line) == ("server.log", 2)
    assert launch.flag("model_path").value == "/models/kimi"


def test_unset_fields_and_lists_come_out_as_the_shell_would_pass_them():
    launch = launch_of(
        setup("server_args=ServerArgs(model_path='x', tp_size=None, cuda_graph_bs=[1, 2], disable_cuda_graph=True)")
    )

    assert launch.flag("tp_size") is None
    assert launch.flag("cuda_graph_bs").values == ("1", "2")
    assert launch.flag("disable_cuda_graph").values == ()


def test_no_launch_without_the_line():
    assert launch_of(setup("non-default args: {'model': 'x'}")) is None
    assert precheck(setup("hello sglang")).findings == ()


def test_a_launch_of_a_known_release_would_have_been_refused():
    found = precheck(setup("sglang version: 0.5.23", ARGS))

    refused = {each.code for each in found.findings if each.refused}
    assert "DD104" in refused
    assert found.findings[0].refused


def test_where_the_release_is_not_known_the_rules_that_need_it_are_unknown():
    found = precheck(setup(ARGS))

    assert "DD104" in found.unknown
    assert not any(each.refused for each in found.findings)


def test_an_unknown_release_is_not_taken_for_the_one_installed():
    assert "DD104" in precheck(setup("sglang version: 9.9.9", ARGS)).unknown


def test_the_note_tells_it():
    note = first("sglang version: 0.5.23", ARGS, *traceback(SIZES))

    assert any(each.code == "DD104" and "33" in each.message for each in note.launch)


def test_the_engine_that_ran_the_algorithm_is_not_said_to_lack_it():
    found = precheck(setup("sglang version: 0.5.23", ARGS))

    assert "DD101" not in {*found.unknown, *(each.code for each in found.findings)}
