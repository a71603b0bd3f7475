"""No secret, home, user name, control character or runner command gets through, wherever in a report it stands."""

from dataclasses import dataclass, field

from hypothesis import given
from hypothesis import strategies as st

from ddtree_doctor.triage.report import Excerpt
from ddtree_doctor.triage.veil import TEXT_CAP, Veil


@dataclass(frozen=True)
class Inner:
    text: str
    number: int = 3


@dataclass(frozen=True)
class Outer:
    inner: tuple[Inner, ...]
    table: dict[str, object] = field(default_factory=dict)
    nothing: None = None


def test_every_text_at_any_depth_is_made_safe():
    veil = Veil(["/home/mwilson/x"])

    safe = veil.over(
        Outer(inner=(Inner(text="token=abc for mwilson\x1b[2J"),), table={"a": ["password: x"], "api_key": "y"})
    )

    assert safe.inner[0].text == "token=*** for [user]"
    assert safe.table == {"a": ["password: ***"], "api_key": "***"}
    assert safe.inner[0].number == 3


def test_an_unset_secret_stays_unset():
    assert Veil([]).over({"api_key": None, "hf_token": False}) == {"api_key": None, "hf_token": False}


def test_a_key_over_several_lines_of_an_excerpt_is_hidden():
    body = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQ"
    excerpt = Excerpt(
        file="f", line=1, lines=("-----BEGIN PRIVATE KEY-----", body, "ab/cd", "-----END PRIVATE KEY-----", "after")
    )

    assert Veil([]).over(excerpt).lines == ("***", "after")


@given(st.text(alphabet=st.characters(codec=None)))
def test_a_text_is_one_short_safe_line(text):
    line = Veil([]).text(text)

    assert "\n" not in line
    assert len(line) <= TEXT_CAP
    assert not line.lstrip().startswith("::")
    line.encode()


@given(st.text())
def test_veiling_twice_is_veiling_once(text):
    veil = Veil([])

    assert veil.text(veil.text(text)) == veil.text(text)
