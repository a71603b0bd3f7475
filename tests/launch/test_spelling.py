import shlex

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ddtree_doctor.errors import UsageError
from tests.launch.sample import bash_words, fields, needs_bash, words

# A tilde is left as it is: whose home it is depends on where the launch runs.
PIECES = [
    *("a", "b", " ", "  ", "\\", "\n", "\\\n", "'", '"', "$", "#", "-", "--f", "=", ",", "{", "}", "1", "..", "$'"),
    *("\t", "x y", "\\ ", "\\#", "$'\\n'", '"a b"', "'c d'", "{a,b}", "{1..3}", '\\"', "\\'", "!", "%", "@", ":", "é"),
    *('"a\\\nb"', "'a\\\nb'", "$'\\x41\\u00e9\\101\\cA'", '"$\\""', "\\$", "`", "\\`", "[", "]"),
]


@needs_bash
@settings(max_examples=250)
@given(parts=st.lists(st.sampled_from(PIECES), min_size=1, max_size=9))
@example(parts=["--flag\\\n--b 2"])
@example(parts=["--a 1 \\ # comment here"])
@example(parts=["--a 1 \\ \n--b"])
@example(parts=["$\\\nb"])
@example(parts=["1$[", "1+1", "]"])
@example(parts=["$'", "a\\0b", "'c"])
def test_words_are_those_that_bash_passes(parts, tmp_path_factory):
    script = "show " + "".join(parts) + "\n"
    meant = bash_words(script, tmp_path_factory.getbasetemp())
    try:
        found = words(script)
    except UsageError:
        assert meant is None
        return
    if meant is not None and None not in found:
        assert found == meant


@given(argv=st.lists(st.text(st.characters(blacklist_characters="\0", blacklist_categories=["Cs"]))))
def test_quoting_and_reading_again_gives_the_same_words(argv):
    assert words("show " + shlex.join(argv) + "\n") == [argv]


def test_each_word_knows_the_line_it_began_on():
    (shown,) = fields("show a \\\n  b 'c\nd' \\\n e")
    assert [(one.text, one.line) for one in shown] == [("a", 1), ("b", 2), ("c\nd", 2), ("e", 4)]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("$(seq 1 4)", "`$(seq …)` is known only when it runs"),
        ("$(hostname)", "`$(hostname)` is known only when it runs"),
        ("`nproc`", "`$(nproc)` is known only when it runs"),
        ("$(TOKEN=s3cret curl -H x)", "`$(…)` is known only when it runs"),
        ("${MODEL##*/}", "`${MODEL…}` is computed by the shell when it runs"),
        ("<MODEL_PATH>", "<MODEL_PATH> is a placeholder to be filled in"),
        ("{{ .Values.model }}", "{{…}} is a placeholder to be filled in"),
        ("<(cat x)", "`$(cat …)` is known only when it runs"),
    ],
)
def test_what_only_a_run_can_tell_is_named_without_its_words(text, why):
    assert [one.why for (shown,) in [fields(f"show {text}")] for one in shown] == [why]


def test_substitutions_may_hold_quotes_comments_and_documents():
    script = "show $(echo ')' # it's\n cat <<'E'\nit's\nE\n) \"$(x \"y)\" '\"')\" b"
    assert [one.text for one in fields(script)[0]] == ["$(echo …)", "$(x …)", "b"]


@pytest.mark.parametrize("opener", ["'", '"', "$(", "`", "${", "${A:-", "$'", '"$('])
def test_what_is_never_closed_is_named_with_its_line(opener):
    with pytest.raises(UsageError, match=r"^script:2: unterminated (single quote|double quote|parenthesis|bac|brace)"):
        words(f"show a\nshow {opener} b\n")


def test_defaults_nested_beyond_reason_are_refused():
    with pytest.raises(UsageError, match="nested more than"):
        words("show " + "${A:-" * 2000 + "}" * 2000)


def test_the_rest_of_a_line_after_a_backslash_and_a_blank_is_no_part_of_what_is_meant():
    (shown,) = fields("show --a 1\\ # one two\n")
    assert [(one.text, one.clean) for one in shown] == [("--a", "--a"), ("1 #", "1"), ("one", None), ("two", None)]
