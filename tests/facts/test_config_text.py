import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ddtree_doctor.facts.config_text import LARGEST_FILE, BadConfig, parse_config

JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**62), 2**62)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=20,
)


def nested(levels, opening=b"[", closing=b"]"):
    return b'{"a": ' + opening * levels + closing * levels + b"}"


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "it is not JSON: Expecting value at line 1, column 1"),
        (b"\x00\xff\x80", "it is not UTF-8 text"),
        (b"\xef\xbb\xbf{}", "byte order mark"),
        (b"[]", "it holds a list, not an object"),
        (b"null", "it holds null, not an object"),
        (b"NaN", "it holds a number, not an object"),
        (b'{"a": 1, "a": 2}', "the key 'a' twice"),
        (b'{"a": {"b": 1, "b": 1}}', "the key 'b' twice"),
        (b'{"hidden_size": NaN}', "hidden_size is 'NaN', not an integer from 1"),
        (b'{"hidden_size": -4096}', "hidden_size is -4096"),
        (b'{"hidden_size": true}', "hidden_size is True"),
        (b'{"vocab_size": "151936"}', "vocab_size is '151936'"),
        (b'{"vocab_size": 1e999}', "vocab_size is 'Infinity'"),
        (b'{"vocab_size": 4294967296}', "vocab_size is 4294967296"),
        (b'{"block_size": ' + b"9" * 100_000 + b"}", "block_size is '999"),
        (b'{"text_config": {"num_hidden_layers": []}}', "text_config.num_hidden_layers is []"),
        (nested(40), "nested more than 32 levels"),
        (nested(200_000), "nested too deeply"),
        (nested(200_000, b'{"a":', b"}").replace(b":}", b":1}"), "nested too deeply"),
        (b'{"a": [' + b"0," * 300_000 + b"0]}", "more than 200,000 values"),
        (b'{"a": "' + b"x" * LARGEST_FILE + b'"}', "bytes long"),
        (b'{"a": 1', "it is not JSON"),
    ],
)
def test_a_config_that_cannot_be_used_says_why_in_one_line(data, reason):
    with pytest.raises(BadConfig) as refused:
        parse_config(data)
    assert reason in str(refused.value)
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 200


def test_what_real_configs_hold_is_taken_as_it_is():
    values = parse_config(b'{"time_step_limit": [0.0, Infinity], "vocab_size": null, "seed": 99999999999999999999}')
    assert values == {"time_step_limit": [0.0, "Infinity"], "vocab_size": None, "seed": "99999999999999999999"}


@given(st.dictionaries(st.text(max_size=8), JSON_VALUES, max_size=5))
@example({"hidden_size": 4096})
def test_an_ordinary_object_is_read_unchanged(values):
    try:
        assert parse_config(json.dumps(values).encode()) == values
    except BadConfig as refused:
        assert any(key in str(refused) for key in ("twice", "not an integer"))  # noqa: PT017 - two keys may meet


@given(
    st.binary(max_size=400) | st.text(max_size=400).map(str.encode) | JSON_VALUES.map(lambda v: json.dumps(v).encode())
)
@example(b'"\\ud800"')
@example(b'{"\\ud800": "\\udfff"}')
def test_any_bytes_give_strict_json_or_a_reason(data):
    try:
        values = parse_config(data)
    except BadConfig:
        return
    json.dumps(values, allow_nan=False).encode()
    assert json.loads(json.dumps(values, allow_nan=False)) == values
