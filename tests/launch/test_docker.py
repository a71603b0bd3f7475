import pytest

from ddtree_doctor.launch.docker import container, split_assignment
from ddtree_doctor.launch.words import Field, Piece


def run(text):
    environment, command = container([Field.plain(word) for word in text.split()], 0, {"HOST": (Piece("h", 1),)})
    return {name: "".join(piece.text for piece in value) for name, value in environment.items()}, [
        one.text for one in command
    ]


@pytest.mark.parametrize(
    ("text", "environment", "command"),
    [
        ("docker run image a b", {}, ["a", "b"]),
        ("docker run -it --rm --gpus all -v /a:/b -p 1:2 image a", {}, ["a"]),
        ("docker run -d -eA=1 -e B=2 --env C=3 --env=D=4 image a", {"A": "1", "B": "2", "C": "3", "D": "4"}, ["a"]),
        ("docker run -e HOST -e OTHER image a", {"HOST": "h"}, ["a"]),
        ("docker run -ite A=1 image a", {"A": "1"}, ["a"]),
        ("docker run --entrypoint python3 image -m x", {}, ["python3", "-m", "x"]),
        ("docker run --entrypoint= image a", {}, ["a"]),
        ("docker --host h run --ipc=host --shm-size 32g image a", {}, ["a"]),
        ("podman exec -w /x name a", {}, ["a"]),
        ("docker run", {}, []),
        ("docker run -e", {}, []),
    ],
)
def test_options_end_at_the_image_and_the_rest_is_the_command(text, environment, command):
    assert run(text) == (environment, command)


def test_a_variable_s_value_keeps_where_it_came_from():
    one = Field.of((Piece("A=", 1), Piece("$X", 2, why="unset")))
    assert split_assignment(one) == ("A", (Piece("$X", 2, why="unset"),))
    assert split_assignment(Field.plain("no-name=1")) is None
