"""Hides the secrets among a command's words, before anything else looks at them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

from ddtree_doctor.launch.scope import Scalar
from ddtree_doctor.launch.secrets import REDACTED, Vault, glued_secret, is_secret_name, secret_option
from ddtree_doctor.launch.table import Table
from ddtree_doctor.launch.words import Field, Piece

__all__ = ["redact_environment", "redact_fields"]

MAX_WORD = 64 * 1024
"""Longer words are no arguments of anyone; they are not searched and not kept."""

SECRET_OPTIONS = ("--api-key", "--admin-api-key")
NUMBERS = frozenset({"int", "float", "bool", "human_readable_int"})
"""Types of values that are no secrets, whatever the option's name."""

MIN_ABBREVIATION = 5
MAX_TYPOS = 2
MAX_NAME = 20


def redact_fields(fields: Sequence[Field], table: Table, vault: Vault) -> tuple[Field, ...]:
    """The words with every secret replaced by `***`.

    Secret are: the value of an option of secret name, abbreviated or slightly misspelt as it may be; `NAME=value` with
    a secret name; what an option's name is glued to; what has the form of a secret; and any secret met before.
    """
    hidden: list[Field] = []
    before = ""
    for one in fields:
        hidden.append(_redact(one, before, table, vault))
        before = one.text
    return tuple(_scrubbed(one, vault) for one in hidden)


def redact_environment(environment: Mapping[str, Scalar], vault: Vault) -> dict[str, tuple[str, str]]:
    """Variable → (text, why it is not known), secrets hidden, in the order of their names."""
    found: dict[str, tuple[str, str]] = {}
    for name in sorted(environment):
        one = Field.of(environment[name])
        text = one.text
        if text and (is_secret_name(name) or vault.holds(text)):
            vault.keep(text)
            text = REDACTED
        found[name] = (_short(text, vault), vault.scrub(one.why))
    return found


def _redact(one: Field, before: str, table: Table, vault: Vault) -> Field:
    text = one.text
    if _takes_secret(before, table) and not text.startswith("--"):
        return _hidden(one, text, REDACTED, vault)
    name, equals, value = text.partition("=")
    secret = _takes_secret(name, table) if "-" in name else is_secret_name(name)
    if equals and value and secret:
        return _hidden(one, value, f"{name}={REDACTED}", vault)
    if text.startswith("-") and name not in table and (option := glued_secret(text)):
        return _hidden(one, text[len(option) :], option + REDACTED, vault)
    return one


def _hidden(one: Field, secret: str, text: str, vault: Vault) -> Field:
    """The field with other text, the secret in nothing that is said about it."""
    vault.keep(secret)
    why = one.why.replace(secret, REDACTED)
    return Field.of((Piece(text, one.line, not one.bare, why),))


def _takes_secret(word: str, table: Table) -> bool:
    """Whether the value after `word` is secret."""
    if "-" not in word or "=" in word:
        return False
    option = table.option(word)
    if option:
        return option.type not in NUMBERS and option.arity != "0" and is_secret_name(option.name)
    if secret_option(word):
        return True
    return word.startswith("--") and len(word) <= MAX_NAME and _resembles_secret(word)


@lru_cache(maxsize=256)
def _resembles_secret(word: str) -> bool:
    """Whether a word that is no option of the engine is one that takes a secret, cut short or misspelt."""
    plain = word.lower().replace("_", "-")
    return any(
        (len(plain) >= MIN_ABBREVIATION and secret.startswith(plain)) or _typos(plain, secret) <= MAX_TYPOS
        for secret in SECRET_OPTIONS
    )


def _typos(word: str, meant: str) -> int:
    """The Levenshtein distance, or more than MAX_TYPOS where the lengths already say so."""
    if abs(len(word) - len(meant)) > MAX_TYPOS:
        return MAX_TYPOS + 1
    row = list(range(len(meant) + 1))
    for at, char in enumerate(word, 1):
        previous, row[0] = row[0], at
        for index, other in enumerate(meant, 1):
            changed = previous + (char != other)
            previous = row[index]
            row[index] = min(changed, row[index] + 1, row[index - 1] + 1)
    return row[-1]


def _scrubbed(one: Field, vault: Vault) -> Field:
    text, why = _short(one.text, vault), vault.scrub(one.why)
    if (text, why) == (one.text, one.why):
        return one
    return Field.of((Piece(text, one.line, not one.bare, why),))


def _short(text: str, vault: Vault) -> str:
    return f"… ({len(text)} characters)" if len(text) > MAX_WORD else vault.scrub(text)
