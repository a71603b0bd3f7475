import shlex

from hypothesis import given
from hypothesis import strategies as st

from tests.launch.sample import SERVER, flags, kinds, launch

values = st.text(st.characters(blacklist_characters="\0", blacklist_categories=["Cs"]), min_size=1)


def test_the_command_is_one_line_that_reads_as_the_same_launch():
    found = launch(f"A=1 nohup {SERVER} \\\n --model 'a b' \\\n --json-model-override-args '{{\"a\":\n1}}' > log &")
    assert "\n" not in found.command
    assert flags(launch(found.command)) == flags(found)


@given(value=values.filter(lambda text: not text.startswith("-")))
def test_any_value_survives_the_command_line(value):
    found = launch(f"{SERVER} --served-model-name {shlex.quote(value)}")
    assert len(found.command.splitlines()) == 1 or not found.command.isprintable()
    assert flags(launch(found.command)) == flags(found)


def test_the_model_of_serve_is_an_option_s_value():
    assert flags(launch("sglang serve Qwen --tp 8")) == [("--model-path", "Qwen"), ("--tp", "8")]
    assert flags(launch("sglang serve --tp 8")) == [("--tp", "8")]
    found = launch("sglang serve --model-type llm Qwen --tp 8")
    assert [flag.name for flag in found.flags] == ["model_type", "model_path", "tp_size"]


def test_defaults_that_were_taken_are_said_once():
    found = launch(f"TP=${{TP:-8}}\n{SERVER} --tp $TP --dp $TP --port ${{PORT:-1}}")
    assert [note.text for note in found.notes] == [
        "$TP is not set in this file; its default is taken",
        "$PORT is not set in this file; its default is taken",
    ]


def test_arguments_of_the_script_are_said_to_be_left_out():
    found = launch(f'{SERVER} --tp 8 "$@"')
    assert kinds(found) == ["arguments"]
    assert found.unknown == {}


def test_a_variable_that_is_set_and_not_exported_is_said():
    assert kinds(launch(f"SGLANG_X=1\n{SERVER} --tp 8")) == ["not-exported"]
    assert kinds(launch(f"export SGLANG_X=1\n{SERVER} --tp 8")) == []
    assert kinds(launch(f"SGLANG_TP=8\n{SERVER} --tp $SGLANG_TP")) == []


def test_a_variable_that_is_not_known_is_not_in_the_environment():
    found = launch(f"A=$(nproc) {SERVER} --tp 8")
    assert found.environment == {}
    assert found.unknown == {"env A": "`$(nproc)` is known only when it runs"}


def test_disaggregation_gives_a_launch_its_role():
    assert launch(f"{SERVER} --disaggregation-mode prefill").role == "prefill"
    assert launch(f"{SERVER} --disaggregation-mode $M").role is None
    assert launch(f"{SERVER} --tp 8").role is None


def test_what_was_assumed_and_what_is_not_known_outlive_another_shell():
    found = launch(f'TP=${{TP:-8}}\nif a; then M=x; else M=y; fi\nbash -c "{SERVER} --tp $TP --model a/$M/$N"')
    assert kinds(found) == ["default-taken"]
    assert found.flag("tp_size").value == "8"
    assert found.unknown == {"model_path": "it depends on the condition at line 2"}
