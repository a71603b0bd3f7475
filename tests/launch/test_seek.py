import pytest

from tests.launch.sample import SERVER, flags, kinds, launch, launches


@pytest.mark.parametrize(
    ("kind", "line", "text"),
    [
        ("space-after-backslash", 1, "--tp 8 \\ \n  --dp 2"),
        ("comment-after-backslash", 1, "--tp 8 \\ # eight\n  --dp 2"),
        ("comment-after-backslash", 1, "--tp 8 \\  # eight\n  --dp 2"),
        ("comment-before-backslash", 1, "--tp 8 # eight \\\n  --dp 2"),
        ("comment-among-flags", 2, "--tp 8 \\\n  # --port 1 \\\n  --dp 2"),
        ("blank-line", 2, "--tp 8 \\\n\n  --dp 2"),
        ("missing-backslash", 1, "--tp 8\n  --dp 2"),
        ("carriage-return", 1, "--tp 8 \\\r\n  --dp 2"),
    ],
)
def test_flags_below_a_line_that_ends_the_command_are_meant_and_not_passed(kind, line, text):
    found = launch(f"{SERVER} {text}\n")
    assert flags(found)[0] == ("--tp", "8")
    assert all(flag.name != "dp_size" for flag in found.flags)
    assert flags(found.intended) == [("--tp", "8"), ("--dp", "2")]
    assert (found.notes[0].kind, found.notes[0].location.line) == (kind, line)
    assert found.notes[0].text.endswith("never passed: --dp")


def test_a_second_fault_below_the_first_is_named_too():
    found = launch(f"{SERVER} --tp 8 \\ \n --dp 2\n --port 1 \\\n # x\n --host h")
    assert kinds(found)[:3] == ["space-after-backslash", "missing-backslash", "comment-among-flags"]
    assert flags(found) == [("--tp", "8")]
    assert flags(found.intended) == [("--tp", "8"), ("--dp", "2"), ("--port", "1"), ("--host", "h")]


def test_a_value_on_the_next_line_is_meant_where_an_option_waits_for_it():
    found = launch(f"{SERVER} --model \\ \n Qwen --tp 8")
    assert flags(found.intended) == [("--model", "Qwen"), ("--tp", "8")]
    assert launch(f"{SERVER} --tp 8 \\ \necho started").intended is None or flags(
        launch(f"{SERVER} --tp 8 \\ \necho started").intended
    ) == [("--tp", "8")]


def test_a_launch_below_the_line_that_ends_its_wrapper_never_runs():
    found = launch("docker run --gpus all \\\n  # the image\n  -v a:b image sglang serve m --tp 8")
    assert (found.entry, found.flags) == ("", ())
    assert flags(found.intended) == [("--model-path", "m"), ("--tp", "8")]
    assert kinds(found) == ["comment-among-flags"]


def test_a_command_that_is_whole_has_no_other_meaning():
    found = launch(f"# start\n{SERVER} --tp 8 \\\n  --dp 2 # two\n\necho -n started\n")
    assert found.intended is None
    assert found.notes == ()


def test_many_cut_lines_are_read_in_linear_time():
    text = f"{SERVER} --tp 8 \\ \n" + "word \\ \n" * 5_000
    assert len(launches(text)) == 1


def test_prose_below_a_launch_is_no_part_of_it():
    found = launch(f"{SERVER} --tp 8\n\n- a remark\n-- another\n")
    assert (found.intended, found.notes) == (None, ())
