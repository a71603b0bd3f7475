from ddtree_doctor.cli.subject import split_command


def test_words_after_the_first_double_dash_are_the_command():
    words = ["check", "--json", "-", "--", "sglang", "serve", "--", "x"]
    assert split_command(words) == (["check", "--json", "-"], ["sglang", "serve", "--", "x"])


def test_without_a_double_dash_there_is_no_command():
    assert split_command(["check", "launch.sh"]) == (["check", "launch.sh"], None)
    assert split_command(["check", "--"]) == (["check"], [])
