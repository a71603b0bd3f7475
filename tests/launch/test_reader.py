import io
import os
import random
import shlex
import subprocess
import sys
import time
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ddtree_doctor.errors import UsageError
from ddtree_doctor.launch import read, read_command, read_file
from ddtree_doctor.launch.source import MAX_BYTES
from tests.launch.sample import OPTIONS, SERVER, flags

MADE_OF = [
    *(
        "sglang serve m",
        "python -m sglang.launch_server",
        "--tp 8",
        "--api-key x",
        "\\\n",
        "\\ \n",
        "# c",
        "\n",
        "'",
        '"',
    ),
    *("$X", "$(", ")", "`", "{", "}", "if", "then", "fi", "for i in", "do", "done", "case", "esac", "f()", "((", "))"),
    *("docker run -e A=1 i", "bash -c '", "services:\n a:\n  command: ", "[Service]\nExecStart=", "A=(", "\r\n", "<M>"),
    *(
        "export A=",
        "${A:-",
        "--config x.yaml",
        "eval",
        "exec",
        "&&",
        "|",
        ";",
        "&",
        "\0",
        "<<E",
        "spec: [",
        "&a",
        "*a",
        "-",
    ),
]


@settings(max_examples=400)
@given(
    parts=st.lists(st.sampled_from(MADE_OF), max_size=14), file=st.sampled_from([None, "a.sh", "a.yaml", "a.service"])
)
def test_no_text_raises_anything_but_a_usage_error(parts, file):
    with suppress(UsageError):
        assert read(" ".join(parts).encode(), OPTIONS, file)


@given(data=st.binary(max_size=200), file=st.sampled_from([None, "a.yaml"]))
def test_no_bytes_raise_anything_but_a_usage_error(data, file):
    with pytest.raises(UsageError):
        read(data, OPTIONS, file)


@given(argv=st.lists(st.text(st.characters(blacklist_characters="\0", blacklist_categories=["Cs"])), max_size=8))
def test_a_command_s_words_and_its_quoted_text_are_the_same_launch(argv):
    words = ["sglang", "serve", "m", *argv]
    given_as_words, (given_as_text,) = read_command(words, OPTIONS), read(shlex.join(words).encode(), OPTIONS)
    assert flags(given_as_words) == flags(given_as_text)
    assert given_as_words.command == given_as_text.command


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        (["sglang", "serve", "m", "--tp", "8"], {}),
        (["A=1", "B=2", "sglang", "serve", "m", "--tp", "8"], {"A": "1", "B": "2"}),
        (["env", "A=1", "nohup", "sglang", "serve", "m", "--tp", "8"], {"A": "1"}),
        (["bash", "-c", "A=1 sglang serve m --tp 8"], {"A": "1"}),
        (["docker", "run", "-e", "A=1", "i", "sglang", "serve", "m", "--tp", "8"], {"A": "1"}),
    ],
)
def test_a_command_given_as_words_is_unwrapped(argv, expected):
    found = read_command(argv, OPTIONS)
    assert flags(found) == [("--model-path", "m"), ("--tp", "8")]
    assert found.environment == expected
    assert found.location.file is None


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        ([], "no launch command"),
        (["ls"], "no launch command"),
        (["A=1"], "no launch command"),
        (["bash", "-c", "sglang serve 'm"], "unterminated single quote"),
        (["bash", "-c", "sglang serve a & sglang serve b"], "2 launches"),
    ],
)
def test_a_command_that_is_no_launch_is_refused(argv, message):
    with pytest.raises(UsageError, match=f"^command line: .*{message}|^command line: {message}"):
        read_command(argv, OPTIONS)


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(UsageError, match=r"none\.sh: cannot be read \(No such file or directory\)"):
        read_file(str(tmp_path / "none.sh"), OPTIONS)


def test_a_folder_is_refused(tmp_path):
    with pytest.raises(UsageError, match=r"cannot be read \(Is a directory\)"):
        read_file(str(tmp_path), OPTIONS)


def test_a_name_that_no_file_can_have_is_refused():
    with pytest.raises(UsageError, match="not a usable name"):
        read_file("a\0b", OPTIONS)


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads every file")
def test_a_file_without_permission_is_refused(tmp_path):
    (tmp_path / "run.sh").write_text("sglang serve m")
    (tmp_path / "run.sh").chmod(0)
    with pytest.raises(UsageError, match="Permission denied"):
        read_file(str(tmp_path / "run.sh"), OPTIONS)


def test_a_file_of_a_hundred_megabytes_is_refused_unread(tmp_path):
    path = tmp_path / "run.sh"
    with open(path, "wb") as file:
        file.truncate(100 * 1024 * 1024)
    begin = time.process_time()
    with pytest.raises(UsageError, match=f"run.sh: 104857600 bytes; a launch file has at most {MAX_BYTES}"):
        read_file(str(path), OPTIONS)
    assert time.process_time() - begin < 1


def test_a_device_without_an_end_is_refused():
    with pytest.raises(UsageError, match=r"at most|binary"):
        read_file("/dev/zero", OPTIONS)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "the file is empty"),
        (b"# nothing\n", "no launch command in it; expected python -m sglang.launch_server"),
        (b"\x7fELF\0", "a binary file"),
        (b"sglang serve m\necho 'x\n", "run.sh:2: unterminated single quote"),
        (b"--model-path m --tp 8\n", "no launch command"),
        (random.Random(1).randbytes(5000), "run.sh"),
    ],
)
def test_bad_files_are_refused_with_their_name(tmp_path, data, message):
    (tmp_path / "run.sh").write_bytes(data)
    with pytest.raises(UsageError, match=message) as error:
        read_file(str(tmp_path / "run.sh"), OPTIONS)
    assert str(tmp_path / "run.sh") in str(error.value)


def test_standard_input_is_read(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"sglang serve m")))
    (found,) = read_file("-", OPTIONS)
    assert (found.location.file, found.location.line) == (None, 1)


@pytest.mark.parametrize(
    "text",
    [
        "f() { f; f; }\nf\nsglang serve m",
        "f() { g; g; }; g() { h; h; }; h() { f; f; }; f; sglang serve m",
        "eval " * 2000 + "sglang serve m",
        'A=\'eval "$A"\'; eval "$A"; sglang serve m',
        "bash -c " * 2000 + "'sglang serve m'",
        "{ " * 3000 + "sglang serve m" + "; }" * 3000,
        "docker run i " * 3000 + "sglang serve m",
    ],
    ids=range(7),
)
def test_a_text_that_calls_itself_ends(text):
    begin = time.process_time()
    with suppress(UsageError):
        read(text.encode(), OPTIONS)
    assert time.process_time() - begin < 30


@pytest.mark.slow
@pytest.mark.parametrize(
    "line",
    [
        b"x" * 10_000_000,
        b"'" + b"x " * 5_000_000 + b"'",
        b"x " * 100_000,
        b"--a " * 30_000,
        b"$A" * 100_000,
        b"A=1 " * 60_000,
        b"env " + b"A=1 " * 60_000,
        b"8--tp" * 12_000,
    ],
    ids=lambda line: line[:8].decode(),
)
def test_a_line_of_megabytes_takes_linear_time(line):
    begin = time.process_time()
    (found,) = read(b"sglang serve m --x " + line, OPTIONS)
    assert flags(found)[0] == ("--model-path", "m")
    assert time.process_time() - begin < 60


def test_a_typical_launch_is_read_within_five_milliseconds():
    known = [option.options[0] for option in OPTIONS if option.arity == ""]
    given = "".join(f"  {text} 1 \\\n" for text in known)
    text = f'export A=1\nARGS=(--tp 8 --dp 2)\nA=1 nohup {SERVER} \\\n{given}{given} "${{ARGS[@]}}" > log 2>&1 &'
    times = []
    for _ in range(30):
        begin = time.process_time()
        read(text.encode(), OPTIONS)
        times.append(time.process_time() - begin)
    assert min(times) < 0.005


def test_reading_a_script_loads_neither_yaml_nor_an_engine():
    code = (
        "import sys; from ddtree_doctor.launch import read; read(b'sglang serve m --tp 8', ());"
        "print(sorted({'yaml', 'torch', 'sglang', 'rich'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
