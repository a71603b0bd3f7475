import pytest
from hypothesis import given
from hypothesis import strategies as st

from ddtree_doctor.launch.arithmetic import evaluate


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1 + 2 * 3", 7),
        ("(1+2)*3", 9),
        ("-7 / 2", -3),
        ("-7 % 3", -1),
        ("N*2", 14),
        ("$N + ${N}", 14),
        ("- -3", 3),
        ("1 << 2", None),
        ("M + 1", None),
        ("1 / 0", None),
        ("010", None),
        ("(1", None),
        ("", None),
        ("(" * 150 + "1", None),
        ("1" * 300, None),
    ],
)
def test_whole_number_sums_are_known_and_all_else_is_not(text, expected):
    assert evaluate(text, {"N": "7"}.get) == expected


@given(text=st.text(st.sampled_from("0123456789+-*/%() $NM{}"), max_size=40))
def test_no_text_raises(text):
    result = evaluate(text, {"N": "7"}.get)
    assert result is None or isinstance(result, int)
