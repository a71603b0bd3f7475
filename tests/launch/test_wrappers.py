import pytest

from tests.launch.sample import SERVER, flags, launch, launches


@pytest.mark.parametrize(
    "command",
    [
        "python -m sglang.launch_server --tp 8",
        "python3.11 -u -m sglang.launch_server --tp 8",
        "/opt/venv/bin/python -m sglang.launch_server --tp 8",
        "exec nohup python3 -m sglang.launch_server --tp 8 > log 2>&1 &",
        "sudo -E env A=1 nice -n 5 numactl -N 0 -m 0 python3 -m sglang.launch_server --tp 8",
        "CUDA_VISIBLE_DEVICES=0,1 time python3 -m sglang.launch_server --tp 8",
        "torchrun --nproc-per-node 8 -m sglang.launch_server --tp 8",
        "srun -N 2 --export=ALL,B=2 python3 -m sglang.launch_server --tp 8",
        "mpirun -np 2 -x NCCL_DEBUG=INFO python3 -m sglang.launch_server --tp 8",
        "uv run python -m sglang.launch_server --tp 8 | tee log",
        "python3 sglang/launch_server.py --tp 8",
        "cd /srv && source env/bin/activate && $PYTHON -m sglang.launch_server --tp 8",
        "$ python3 -m sglang.launch_server --tp 8",
        "sglang serve --tp 8",
        "/usr/local/bin/sglang serve --tp 8",
        "python -m sglang.cli.main serve --tp 8",
        "docker run --gpus all image:tag sglang serve --tp 8",
        "bash -c 'python3 -m sglang.launch_server --tp 8'",
        "sh -lc 'cd x; exec python3 -m sglang.launch_server --tp 8'",
        "bash -euo pipefail -c 'python3 -m sglang.launch_server --tp $1' name 8",
        "docker exec -it c bash -lc 'sglang serve --tp 8'",
        'ssh -p 22 host "cd x && sglang serve --tp 8"',
        "sbatch --wrap='srun sglang serve --tp 8'",
        "tmux new-session -d -s x 'sglang serve --tp 8'",
        "eval sglang serve --tp 8",
        "eval \"sglang serve\" '--tp 8'",
        "f() { sglang serve --tp $1; }; f 8",
        "f() { sglang serve --tp 8; }",
        "if ! sglang serve --tp 8; then exit 1; fi",
        "(sglang serve --tp 8) &",
    ],
)
def test_a_launch_is_found_under_what_it_is_wrapped_in(command):
    assert flags(launch(command)) == [("--tp", "8")]


@pytest.mark.parametrize(
    "command",
    [
        "python -m sglang.bench_serving --backend sglang",
        "echo python -m sglang.launch_server --tp 8",
        "echo 'sglang serve --tp 8'",
        "pkill -f sglang.launch_server",
        "pip install sglang",
        "# sglang serve --tp 8",
        "cat <<E\nsglang serve --tp 8\nE",
        "sglang generate --tp 8",
        "exit 0\nsglang serve --tp 8",
    ],
)
def test_what_starts_no_server_is_no_launch(command):
    assert flags(launches(f"{SERVER} --tp 1; {command}")[-1]) == [("--tp", "1")]
    assert len(launches(f"{SERVER} --tp 1; {command}")) == 1


@pytest.mark.parametrize(
    ("command", "environment"),
    [
        ("A=1 B='x y' sglang serve m", {"A": "1", "B": "x y"}),
        ("export A=1; B=2; sglang serve m", {"A": "1"}),
        ("A=1; export A; sglang serve m", {"A": "1"}),
        ("set -a; A=1; set +a; B=2; sglang serve m", {"A": "1"}),
        ("env A=1 B=2 sglang serve m", {"A": "1", "B": "2"}),
        ("srun --export=ALL,A=1 sglang serve m", {"A": "1"}),
        ("mpirun -x A=1 sglang serve m", {"A": "1"}),
        ("export A=1; B=2; bash -c 'C=3 sglang serve m'", {"A": "1", "C": "3"}),
        ("export A=1; docker run -e B=2 -e A -e C i sglang serve m", {"A": "1", "B": "2"}),
        ("export A=1; ssh h 'sglang serve m'", {}),
        ("export A=1; sglang serve m --x B=2", {"A": "1"}),
    ],
)
def test_the_environment_is_what_the_command_receives(command, environment):
    assert launch(command).environment == environment


def test_a_variable_that_is_not_exported_is_not_seen_by_another_shell():
    (flag,) = launch("TP=8\nbash -c 'sglang serve --tp $TP'").flags
    assert flag.unknown == "`$TP` is not set in this file"


def test_every_launch_of_a_file_is_given_in_order():
    found = launches("for i in 0 1; do ssh n$i 'sglang serve a'; done\nsglang serve b &\nsglang serve c")
    assert [flags(one)[0][1] for one in found] == ["a", "b", "c"]


def test_lines_inside_a_quoted_script_are_the_file_s():
    text = 'X=1\nbash -c "cd x && \\\n  sglang serve m \\\n  --tp 8\n sglang serve n"\n'
    first, second = launches(text)
    assert [flag.location.line for flag in first.flags] == [3, 4]
    assert second.location.line == 5
