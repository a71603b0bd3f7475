import pytest

from ddtree_doctor.launch import interpolation
from ddtree_doctor.launch.words import Piece

KNOWN = {"A": (Piece("1", 9), Piece("2", 9))}


def texts(pieces):
    return "".join(piece.text for piece in pieces), [piece.why for piece in pieces if piece.why]


@pytest.mark.parametrize(
    ("text", "expected", "why"),
    [
        ("a $$X", "a $X", []),
        ("${X:-8}${Y-9}", "89", []),
        ("${X:+a}b", "b", []),
        ("${X}", "$X", ["`$X` is not set in this file"]),
        ("p$X.q", "p$X.q", ["`$X` is not set in this file"]),
        ("${X:?say}", "$X", ["`$X` is not set in this file"]),
        ("${X:-${Y}}", "${…}}", ["`${…}` is not set in this file"]),
        ("$(x)", "$(x)", []),
    ],
)
def test_compose_knows_defaults_only(text, expected, why):
    assert texts(interpolation.compose((Piece(text, 1),))) == (expected, why)


@pytest.mark.parametrize(
    ("text", "expected", "why"),
    [
        ("$(A)x", "12x", []),
        ("$$(A)", "$(A)", []),
        ("$(B)", "$(B)", ["`$(B)` is not set in this container's env"]),
        ("$A ${A} $(cat x)", "$A ${A} $(cat x)", []),
    ],
)
def test_kubernetes_knows_its_container_s_variables(text, expected, why):
    assert texts(interpolation.kubernetes((Piece(text, 1),), KNOWN)) == (expected, why)


@pytest.mark.parametrize(
    ("text", "expected", "why"),
    [
        ("${A}x$A", "12x$A", []),
        ("$$A %%", "$A %", []),
        ("%i", "%i", ["`%i` is filled in by systemd"]),
        ("${B}", "${B}", ["`${B}` is not set in this unit"]),
    ],
)
def test_systemd_knows_its_unit_s_variables(text, expected, why):
    assert texts(interpolation.systemd((Piece(text, 1),), KNOWN)) == (expected, why)


def test_replaced_text_stands_at_its_place():
    assert [piece.line for piece in interpolation.kubernetes((Piece("x$(A)", 3),), KNOWN)] == [3, 3, 3]
