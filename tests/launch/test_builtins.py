import pytest

from tests.launch.sample import fields, words


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("export X=1\nbash -c 'show $X'", []),
        ("X=a; Y=$X; show $Y", ["a"]),
        ("declare -a A=(a 'b c'); show \"${A[@]}\"", ["a", "b c"]),
        ("A=(a); A[1]=b; show ${A[@]}", ["a", "b"]),
        ("P=X=3; export $P; show $X", ["3"]),
        ("set a b; show $2", ["b"]),
        ("set -e -o pipefail; show $#", ["0"]),
        ("set -- a b; shift; show $1", ["b"]),
    ],
)
def test_the_shell_s_own_commands_change_what_follows(script, expected):
    assert words(script) == ([expected] if expected else [])


@pytest.mark.parametrize("script", ["read X", "mapfile X", "printf -v X %s 1", "let X=1+1", "getopts a X"])
def test_a_variable_that_is_read_is_not_known(script):
    (shown,) = fields(f"X=1\n{script}\nshow $X")
    assert [one.why for one in shown] == ["`$X` is read when the script runs"]


def test_an_array_with_named_elements_is_not_known():
    (shown,) = fields("declare -A A\nA[k]=1\nshow ${A[@]}")
    assert [one.why for one in shown] == ["`$A` is set element by element"]
