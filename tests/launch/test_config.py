import pytest

from tests.launch.sample import SERVER, kinds, launch


@pytest.fixture
def config(tmp_path):
    """Reads a launch whose config file has a text."""

    def written(text, words="", name="engine.yaml"):
        (tmp_path / name).write_text(text)
        return launch(f"{SERVER} --config {name} {words}", str(tmp_path / "run.sh"))

    return written


def test_a_config_file_s_options_come_before_the_command_line_s(config, tmp_path):
    found = config("# mine\ntp-size: 4\nmodel-path: Qwen\n", "--tp 8")
    assert found.flag("tp_size").value == "8"
    assert found.flag("model_path").value == "Qwen"
    assert found.flag("model_path").location.file == str(tmp_path / "engine.yaml")
    assert found.flag("model_path").location.line == 3
    assert found.flag("config").value == "engine.yaml"
    assert found.unknown == {}


@pytest.mark.parametrize(
    ("text", "flag"),
    [
        ("trust-remote-code: true", ("trust_remote_code", ())),
        ("trust-remote-code: false", ("trust_remote_code", None)),
        ("cuda-graph-bs-decode: [1, 2]", ("cuda_graph_bs_decode", ("1", "2"))),
        ("cuda-graph-bs-decode: []", ("cuda_graph_bs_decode", None)),
        ("mem-fraction-static: 0.80", ("mem_fraction_static", ("0.8",))),
        ("json-model-override-args: {a: {b: 1}}", ("json_model_override_args", ('{"a": {"b": 1}}',))),
        ("new-thing: false", (None, ("false",))),
        ("tp_size: 8", (None, ("8",))),
    ],
)
def test_values_become_the_words_that_sglang_makes_of_them(config, text, flag):
    name, values = flag
    found = [one.values for one in config(text).flags if one.name == name]
    assert found == ([] if values is None else [values])


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ("--config none.yaml", "config-missing"),
        ("--config $C", "config-unread"),
        ("--config engine.json", "config-invalid"),
        ("--config a.yaml --config b.yaml", "config-invalid"),
        ("--config", "config-invalid"),
    ],
)
def test_a_config_that_cannot_be_read_is_noted_and_what_it_holds_is_not_known(words, kind):
    found = launch(f"{SERVER} --tp 8 {words}")
    assert kind in kinds(found)
    assert "config" in found.unknown
    assert found.flag("tp_size").value == "8"


@pytest.mark.parametrize(
    "text",
    [
        "- a\n- b\n",
        "a: [",
        "a: &x 1\nb: *x\n",
        "a: 1\n---\nb: 2\n",
        "[" * 3000,
        "a: !!python/object:os.system {}",
        "a: 2001-99-99",
    ],
)
def test_a_config_that_is_no_mapping_of_options_is_noted(config, text):
    found = config(text)
    assert kinds(found)[0] == "config-invalid"
    assert "config" in found.unknown


def test_an_empty_config_says_nothing(config):
    assert config("# nothing\n", "--tp 8").unknown == {}


def test_a_secret_in_a_config_is_hidden(config):
    found = config("api-key: canary-canary\nserved-model-name: canary-canary-1\n")
    assert "canary" not in repr(found)
    assert found.flag("api_key").value == "***"


def test_a_config_as_one_word_is_ignored_as_sglang_ignores_it(tmp_path):
    (tmp_path / "e.yaml").write_text("tp-size: 4\n")
    found = launch(f"{SERVER} --config=e.yaml", str(tmp_path / "run.sh"))
    assert found.flag("tp_size") is None
    assert kinds(found) == ["config-ignored"]
    assert found.intended.flag("tp_size").value == "4"
