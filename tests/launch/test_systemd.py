import pytest

from ddtree_doctor.errors import UsageError
from tests.launch.sample import flags, kinds, launch, launches

UNIT = """\
[Unit]
Description=it's a server

[Service]
Environment=TP=8 "NAME=a b"
Environment=HF_TOKEN=canary
ExecStartPre=-/usr/bin/mkdir -p /x
ExecStart=@/usr/bin/env sglang serve m \\
  --tp ${TP} \\
# a comment among the lines
  ; another
  --served-model-name ${NAME} --host %H \\
  --port $PORT
Restart=always

[Install]
WantedBy=multi-user.target
"""


def test_a_unit_s_command_is_read_with_its_environment():
    found = launch(UNIT, "x.service")
    assert flags(found) == [
        ("--model-path", "m"),
        ("--tp", "8"),
        ("--served-model-name", "a b"),
        ("--host", "%H"),
        ("--port", "$PORT"),
    ]
    assert found.environment == {"TP": "8", "NAME": "a b", "HF_TOKEN": "***"}
    assert found.unknown == {"host": "`%H` is filled in by systemd", "port": "`$PORT` is not set in this unit"}
    assert [flag.location.line for flag in found.flags] == [8, 9, 12, 12, 13]
    assert found.notes == ()


def test_a_variable_alone_may_be_several_words():
    found = launch("[Service]\nEnvironment='ARGS=--tp 8'\nExecStart=sglang serve m $ARGS\n")
    assert flags(found) == [("--model-path", "m"), ("--tp", "8")]


def test_a_shell_in_a_unit_is_followed():
    found = launch(
        "[Service]\nEnvironment=A=1\nExecStart=/bin/bash -c 'cd /x && exec sglang serve m --tp $A --dp $$B'\n"
    )
    assert flags(found) == [("--model-path", "m"), ("--tp", "1"), ("--dp", "$B")]


def test_several_commands_are_each_read():
    text = "[Service]\nExecStartPre=sglang serve a\nExecStart=sglang serve b ; sglang serve c\n"
    assert [flags(one)[0][1] for one in launches(text)] == ["a", "b", "c"]


def test_a_blank_after_a_backslash_ends_the_command():
    found = launch("[Service]\nExecStart=sglang serve m \\ \n  --tp 8 \\\n  --dp 2\nRestart=no\n")
    assert flags(found) == [("--model-path", "m")]
    assert kinds(found) == ["space-after-backslash"]
    assert flags(found.intended) == [("--model-path", "m"), ("--tp", "8"), ("--dp", "2")]


def test_an_open_quote_is_refused_with_its_line():
    with pytest.raises(UsageError, match=r"^x.service:3: unterminated quote"):
        launches("[Service]\nExecStart=sglang serve \\\n 'm\n", "x.service")
