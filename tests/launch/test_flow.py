from hypothesis import given, settings
from hypothesis import strategies as st

from ddtree_doctor.errors import UsageError
from tests.launch.sample import SERVER, bash_words, fields, launch, needs_bash, words

LINES = [
    *(
        "show $X",
        'show "$X" $Y',
        "X=1",
        "X='2 3'",
        "Y=$X",
        "A=(1 '2 3')",
        "A+=(4)",
        'show "${A[@]}"',
        "f 'q r'",
        "X+=5",
    ),
    *(
        'f() { show f "$1"; X=in; }',
        "export X",
        "unset X",
        "set -- m 'n o'",
        'show "$@"',
        "shift",
        "Z=$X true",
        "show $Z",
    ),
    *(
        "eval show $X",
        "X=2 Y=$X show $X $Y",
        "( X=9 )",
        "{ X=8",
        "}",
        "show b \\",
        "# z",
        "A[1]=k",
        "declare -a A=(7 8)",
    ),
    *(
        "true | X=4",
        "Y=$((X+1))",
        "W=$Y",
        "export W=3 X",
        "show a && show $X",
        "true; show c",
        "readonly R=1",
        "X=",
        "show $R",
    ),
]


@needs_bash
@settings(max_examples=200)
@given(lines=st.lists(st.sampled_from(LINES), min_size=2, max_size=12))
def test_assignments_and_functions_leave_what_bash_leaves(lines, tmp_path_factory):
    script = "X=0 Y=0\nf() { :; }\n" + "\n".join(lines) + "\n"
    meant = bash_words(script, tmp_path_factory.getbasetemp())
    try:
        found = words(script)
    except UsageError:
        return
    if meant is not None and None not in found:
        assert found == meant


def whys(script):
    return [(one.text, one.why) for shown in fields(script) for one in shown]


def test_a_variable_set_on_one_branch_only_is_not_known_after_it():
    script = "TP=8\nif [ $x ]; then TP=4; fi\nshow $TP"
    assert whys(script) == [("8", "it depends on the condition at line 2")]


def test_a_variable_set_alike_on_all_branches_is_known():
    assert whys("if a; then X=1; else X=1; fi\nshow $X") == [("1", "")]


def test_flags_added_on_one_branch_are_doubtful_and_the_others_are_not():
    script = 'A=(--tp 8)\nif a; then A+=(--dp 2); else A+=(--x); fi\nshow "${A[@]}"'
    why = "it depends on the condition at line 2"
    assert whys(script) == [("--tp", ""), ("8", ""), ("--dp", why), ("2", why), ("--x", why)]


def test_flags_added_to_a_string_are_doubtful_and_the_others_are_not():
    script = 'A="--tp 8"\n[ $x ] && A="$A --dp 2"\nshow $A'
    why = "it depends on a condition at line 2"
    assert whys(script) == [("--tp", ""), ("8", ""), ("--dp", why), ("2", why)]


def test_a_branch_that_exits_leaves_nothing_behind():
    assert whys("X=1\nif a; then X=2; exit 1; fi\nshow $X") == [("1", "")]


def test_nothing_runs_after_exit_or_exec():
    assert words("show a\nexit 0\nshow b") == [["a"]]
    assert words("exec > log\nshow a\nexec server\nshow b") == [["a"]]


def test_a_loop_variable_is_not_known():
    assert whys("for i in 0 1; do show $i; done") == [("$i", "`$i` is the variable of the loop at line 1")]


def test_a_loop_over_the_arguments_changes_nothing_where_none_are_given():
    script = f"TP=8\nwhile [[ $# -gt 0 ]]; do\n case $1 in --tp) TP=$2; shift 2;; esac\ndone\n{SERVER} --tp $TP"
    assert [(flag.values, flag.unknown) for flag in launch(script).flags] == [(("8",), "")]


def test_a_launch_in_a_loop_over_the_arguments_is_found():
    (flag,) = launch(f'for m in "$@"; do {SERVER} --model $m; done').flags
    assert flag.unknown == "`$m` is the variable of the loop at line 1"


def test_a_function_sees_its_arguments():
    assert words('f() { show "$1" "$#"; }\nf "a b" c\nf d') == [["a b", "2"], ["d", "1"]]


def test_functions_that_call_themselves_end():
    assert words("f() { show a; f; }\nf")[0] == ["a"]


def test_counting_makes_a_variable_unknown():
    assert whys("P=1\n((P++))\nshow $P") == [("$P", "`$P` is computed at line 2")]
