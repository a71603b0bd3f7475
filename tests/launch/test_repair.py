import pytest

from tests.launch.sample import SERVER, flags, kinds, launch


@pytest.mark.parametrize(
    ("kind", "text", "meant"),
    [
        ("glued", "--mem-fraction-static 0.9--tp 8", [("--mem-fraction-static", "0.9"), ("--tp", "8")]),
        ("glued", "--trust-remote-code--tp 8", [("--trust-remote-code",), ("--tp", "8")]),
        ("glued", "--tp=8--dp=2", [("--tp", "8"), ("--dp", "2")]),
        ("glued", "--tp 8\\\n--dp 2", [("--tp", "8"), ("--dp", "2")]),
        ("glued", "--trust-remote-code\\\n--tp 8", [("--trust-remote-code",), ("--tp", "8")]),
        ("glued", "--port 1--tp 8--dp 2", None),
        ("glued", "--tp 8--not-an-option 2", [("--tp", "8"), ("--not-an-option", "2")]),
        ("glued", "--model 'x'--tp 8", [("--model", "x"), ("--tp", "8")]),
        ("odd-dash", "—tp 8", [("--tp", "8")]),
        ("odd-dash", "–tp 8", [("--tp", "8")]),
        ("odd-dash", "−−tp=8", [("--tp", "8")]),
        ("odd-quote", "--model “Qwen”", [("--model", "Qwen")]),
        ("odd-space", "--tp\u00a08", [("--tp", "8")]),
        ("odd-space", "\u200b--tp 8", [("--tp", "8")]),
        ("carriage-return", "--tp 8\r\n", [("--tp", "8")]),
        ("blank-around-equals", "--tp = 8", [("--tp", "8")]),
        ("blank-around-equals", "--tp =8", [("--tp", "8")]),
        ("blank-around-equals", "--tp= 8", [("--tp", "8")]),
        ("stray-backslash", "'\\' --tp 8", [("--tp", "8")]),
        ("stray-backslash", "\\ --tp 8", [("--tp", "8")]),
        ("config-ignored", "--config=missing.yaml", [("--config", "missing.yaml")]),
    ],
)
def test_a_slip_is_said_and_what_was_meant_stands_beside_it(kind, text, meant):
    found = launch(f"{SERVER} {text}")
    assert kind in kinds(found)
    if meant is None:
        assert flags(found.intended) == [("--port", "1"), ("--tp", "8"), ("--dp", "2")]
    elif kind == "config-ignored":
        assert found.unknown == {}
        assert "config" in found.intended.unknown
    else:
        assert found.command != found.intended.command
        assert flags(found.intended) == meant


@pytest.mark.parametrize(
    "text",
    [
        "--model /root/.cache/hub/models--tp--dp-size",
        "--model models--Qwen--Qwen3",
        "--served-model-name 'a--tp'",
        "--json-model-override-args '{\"a\": 1}'",
        "--port -1",
        "--model a=b",
        "--host 0.0.0.0",
    ],
)
def test_words_that_look_odd_and_are_meant_stay(text):
    found = launch(f"{SERVER} {text}")
    assert found.intended is None
    assert found.notes == ()
