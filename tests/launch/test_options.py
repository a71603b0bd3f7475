import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.launch.sample import OPTIONS, SERVER, flags, kinds, launch


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("--tp 8", [("tp_size", ("8",))]),
        ("--tp=8", [("tp_size", ("8",))]),
        ("--tensor 8", [("tp_size", ("8",))]),
        ("--speculative-algo EAGLE", [("speculative_algorithm", ("EAGLE",))]),
        ("--trust-remote-code --tp 8", [("trust_remote_code", ()), ("tp_size", ("8",))]),
        ("--no-enable-overlap", [("enable_overlap", ())]),
        ("--cuda-graph-bs-decode 1 2 4 --tp 8", [("cuda_graph_bs_decode", ("1", "2", "4")), ("tp_size", ("8",))]),
        ("--cuda-graph-bs-decode=1", [("cuda_graph_bs_decode", ("1",))]),
        ("--lora-paths --tp 8", [("lora_paths", ()), ("tp_size", ("8",))]),
        ("--lora-paths a b", [("lora_paths", ("a", "b"))]),
        ("--model-checksum --tp 8", [("model_checksum", ()), ("tp_size", ("8",))]),
        ("--port -1 --mem-fraction-static -.5", [("port", ("-1",)), ("mem_fraction_static", ("-.5",))]),
        ("""--json-model-override-args '{"a": [1, -2]}'""", [("json_model_override_args", ('{"a": [1, -2]}',))]),
        ("--served-model-name ''", [("served_model_name", ("",))]),
        ("--served-model-name=", [("served_model_name", ("",))]),
        ("--served-model-name '--a b'", [("served_model_name", ("--a b",))]),
        ("--new-flag 1 2 --tp 8", [(None, ("1", "2")), ("tp_size", ("8",))]),
        ("--new-flag --tp 8", [(None, ()), ("tp_size", ("8",))]),
        ("-tp 8", [(None, ("8",))]),
    ],
)
def test_words_are_grouped_as_argparse_groups_them(text, expected):
    found = launch(f"{SERVER} {text}")
    assert [(flag.name, flag.values) for flag in found.flags] == expected
    assert found.notes == ()


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("--tp", "missing-value"),
        ("--tp --port 1", "missing-value"),
        ("--cuda-graph-bs-decode", "missing-value"),
        ("--trust-remote-code true", "stray-words"),
        ("--tp 8 9", "stray-words"),
        ("word --tp 8", "stray-words"),
        ("--tp 8 -- word", "stray-words"),
        ("--trust-remote-code=true", "value-for-switch"),
        ("--cuda-graph-bs 1", "ambiguous-option"),
    ],
)
def test_what_argparse_refuses_is_noted(text, kind):
    assert kinds(launch(f"{SERVER} {text}")) == [kind]


def test_what_is_not_known_is_the_flag_s_alone():
    found = launch(
        f"{SERVER} --tp $TP --dp <DP> --port 1 --host {{host}} --model YOUR_MODEL --cuda-graph-bs-decode 1 $N"
    )
    assert found.unknown == {
        "tp_size": "`$TP` is not set in this file",
        "dp_size": "<DP> is a placeholder to be filled in",
        "host": "{host} is a placeholder to be filled in",
        "model_path": "YOUR_MODEL is a placeholder to be filled in",
        "cuda_graph_bs_decode": "`$N` is not set in this file",
    }
    assert found.flag("port").value == "1"
    assert found.flag("tp_size").value is None


def test_the_last_flag_of_a_name_decides_what_is_known():
    assert launch(f"{SERVER} --tp $TP --tp 8").unknown == {}
    assert list(launch(f"{SERVER} --tp 8 --tensor-parallel-size $TP").unknown) == ["tp_size"]


def test_words_that_may_be_any_flags_are_named():
    found = launch(f"{SERVER} --tp 8 $EXTRA_ARGS")
    assert found.unknown == {"$EXTRA_ARGS": "`$EXTRA_ARGS` is not set in this file; words that it adds are not judged"}
    assert kinds(found) == ["unknown-words"]


def test_a_file_name_pattern_is_not_known():
    found = launch(f"{SERVER} --model /models/*/x --served-model-name 'a*'")
    assert found.unknown == {"model_path": "the shell replaces * with the names of files"}


def test_without_an_engine_flags_keep_their_words():
    from ddtree_doctor.launch import read

    (found,) = read(b"sglang serve m --tp 8 --x --y=1 a $Z", ())
    assert flags(found) == [("--model-path", "m"), ("--tp", "8"), ("--x",), ("--y", "1")]
    assert {flag.name for flag in found.flags} == {None}


names = st.sampled_from([text for option in OPTIONS if option.arity == "" for text in option.options])
values = st.text(st.characters(whitelist_categories=["L", "N"]), min_size=1).filter(lambda text: text != "your")


@given(name=names, value=values)
def test_one_word_with_an_equals_sign_and_two_words_are_the_same_flag(name, value):
    together, apart = (launch(f"{SERVER} {name}{joint}{value}\n").flags for joint in ("=", " "))
    assert together == apart
