"""Secrets, home directories and user names leave no trace in anything the doctor writes.

One place says which names guard a secret and which texts are secret by their form; launches and logs both go by it.
Values under such a name (`api_key='…'`, `HF_TOKEN=…`, `--ssl-keyfile-password …`) are hidden, forms (`hf_…`, a JWT, a
private key) wherever they stand, URLs lose their credentials. Invariant to keep: redacting twice is redacting once.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

__all__ = ["HIDDEN", "SHAPE", "USER", "Redactor", "is_secret_name", "redact"]

HIDDEN = "***"
USER = "[user]"

SECRET_NAME = re.compile(
    r"(?:^|_)(?:api_?keys?|keys?|key_[a-z]|token|auth|pass|passwd|passphrase|credentials?|dsn)$"
    r"|secret|passw(?:or)?d|(?:^|_)aws_|api_?key|access_?key|private_?key|credential|token$|authorization|cookie$",
    re.IGNORECASE,
)
NOT_SECRET_NAME = re.compile(
    r"(?:^|_)(?:(?:first|pad|eos|bos|unk|sep|cls|mask|stop|draft|verify|per|num|max|min)_token|(?:primary|cache|sort)_key)$",
    re.IGNORECASE,
)
# In running text a lower-case `graph_key` or `auth` is no secret, an upper-case `WANDB_KEY` is.
LOOSE_NAME = re.compile(r"(?:^|_)(?:keys?|auth|pass)$")
GUARDED_KEY = re.compile(r"(?:api|access|account|private|secret|encryption|watermark)_?keys?$")
SHAPES = (
    r"hf_[A-Za-z0-9]{16,}",
    r"sk-[A-Za-z0-9_-]{12,}",
    r"gh[pousr]_[A-Za-z0-9]{16,}",
    r"github_pat_[A-Za-z0-9_]{16,}",
    r"gl(?:pat|rt|ptt)-[A-Za-z0-9_-]{12,}",
    r"xox[abeprs]-[A-Za-z0-9-]{10,}",
    r"(?:AKIA|ASIA)[0-9A-Z]{12,}",
    r"AIza[0-9A-Za-z_-]{30,}",
    r"ya29\.[0-9A-Za-z_-]{16,}",
    r"nvapi-[A-Za-z0-9_-]{16,}",
    r"(?:npm|dckr_pat|dop_v1|r8)_[A-Za-z0-9-]{16,}",
    r"pypi-[A-Za-z0-9_-]{16,}",
    r"eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,}(?:\.[A-Za-z0-9_-]*)?",
    r"-----BEGIN [A-Z ]{0,24}PRIVATE KEY-----[A-Za-z0-9+/=\s\\]*(?:-----END [A-Z ]{0,24}PRIVATE KEY-----)?",
)
SHAPE = re.compile(r"(?<![A-Za-z0-9])(?:" + "|".join(SHAPES) + ")")
"""What is secret by its form. No match is shorter than 14 characters."""
# 40 or more characters of base64 without a separator; hexadecimal is left alone (commits, digests).
BASE64 = re.compile(r"(?<![A-Za-z0-9+=_])(?=[A-Za-z+]{0,39}[0-9])[A-Za-z0-9+]{40,}={0,2}(?![A-Za-z0-9_])")
HEX = re.compile(r"[0-9a-f]+|[0-9A-F]+")

# A name and what parts it from its value; the value is looked at only where the name guards it.
PAIR = re.compile(r"(?<![\w.-])([A-Za-z-][\w.-]{0,80})[\"']?\s{0,4}(?:=>|[=:])\s{0,4}")
FLAG = re.compile(r"(?<![\w-])(--[A-Za-z][\w-]{0,60})[\"']?(?:\s{1,4}|\s{0,2},\s{0,4})(?!-)")
VALUE = re.compile(
    r"[a-z]?\"(?:[^\"\\\n]|\\.)*(?:\"|$)[^\s,;:&)}\]]*|[a-z]?'(?:[^'\\\n]|\\.)*(?:'|$)[^\s,;:&)}\]]*|[^\s\"',;&)}]+",
    re.MULTILINE,
)
URL_LOGIN = re.compile(r"(?<=://)[^\s/@'\"<>\[\]]*@")
BEARER = re.compile(
    r"\b(authorization[\"']?\s{0,4}[:=]\s{0,4}[\"']?(?:(?:bearer|basic|digest|token)\s{1,4})?|bearer\s{1,4})"
    r"[\w+/=.~:%-]+",
    re.IGNORECASE,
)
QUERY = re.compile(
    r"([?&](?:key|sig|signature|sas|auth|token|x-amz-[a-z-]{1,24}|x-goog-[a-z-]{1,24})=)[^\s&\"']+", re.IGNORECASE
)
PLAIN = re.compile(r"(?:None|null|True|False|true|false|\d+(?:\.\d+)?)[\])}]*")
HOME = re.compile(
    r"(?:/[\w.-]{1,40}){0,2}/(?:home|Users)/([^\s/:;,'\"()<>\[\]{}|]+)|/root(?![\w.-])|/var/root(?![\w.-])"
)
HOME_WINDOWS = re.compile(r"[A-Za-z]:\\{1,2}Users\\{1,2}([^\s\\/:;,'\"()<>|]+)", re.IGNORECASE)
ADDRESS = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@(?=[A-Za-z][\w-]{0,62})")
WHO = re.compile(
    r"\b((?:user|username|user_name|logname|login|owner)[\"']?\s{0,2}[=:]\s{0,2}[\"']?)[A-Za-z_][\w.-]{0,63}",
    re.IGNORECASE,
)
ACCOUNT = re.compile(r"[A-Za-z0-9_][\w.-]{2,63}")
# Accounts of containers and images: hiding these words everywhere would hide facts.
COMMON = frozenset(("root", "user", "users", "ubuntu", "admin", "app", "sglang", "vllm", "python", "work", "shared"))
ROUNDS = 8
"""One replacement can bare another; two rounds are the rule, a fixed point is the promise."""


def is_secret_name(name: str) -> bool:
    """Whether a variable, option, field or JSON member of this name holds a secret: `--api-key`, `HF_TOKEN`."""
    plain = name.strip("-").replace("-", "_")
    return bool(SECRET_NAME.search(plain)) and not NOT_SECRET_NAME.search(plain)


def redact(text: str, names: Iterable[str] = ()) -> str:
    """`text` without secrets, home directories and the user names that `text` itself or `names` gives away."""
    redactor = Redactor(names)
    redactor.learn(text)
    return redactor.redact(text)


class Redactor:
    """Redacts many texts of one origin; a user name learnt from one is hidden in all."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._names: set[str] = set()
        self._add(names)

    def learn(self, text: str) -> None:
        """Remember the user names in the home directories of `text`."""
        self._add(found.group(1) for pattern in (HOME, HOME_WINDOWS) for found in pattern.finditer(text))

    def redact(self, text: str) -> str:
        """`text` without secrets, home directories and known user names."""
        for _ in range(ROUNDS):
            hidden = self._once(text)
            if hidden == text:
                break
            text = hidden
        return text

    def _add(self, names: Iterable[str | None]) -> None:
        self._names |= {name for name in names if name and ACCOUNT.fullmatch(name) and name.lower() not in COMMON}

    def _once(self, text: str) -> str:
        text = SHAPE.sub(HIDDEN, text)
        text = BEARER.sub(rf"\1{HIDDEN}", text)
        text = _values_hidden(FLAG, _values_hidden(PAIR, text))
        text = QUERY.sub(rf"\1{HIDDEN}", text)
        text = URL_LOGIN.sub(f"{HIDDEN}@", text)
        text = BASE64.sub(_hide_base64, text)
        text = HOME_WINDOWS.sub("~", HOME.sub("~", text))
        text = WHO.sub(rf"\1{USER}", text)
        text = ADDRESS.sub(f"{USER}@", text)
        for name in sorted(self._names, key=len, reverse=True):
            text = re.sub(rf"(?<![A-Za-z0-9]){re.escape(name)}(?![A-Za-z0-9])", USER, text)
        return text


def _guards(name: str) -> bool:
    """Whether `name`, met in running text, holds a secret."""
    plain = name.rpartition(".")[2].strip("-").replace("-", "_")
    return is_secret_name(plain) and (not LOOSE_NAME.search(plain) or bool(GUARDED_KEY.search(plain)))


def _values_hidden(pairs: re.Pattern[str], text: str) -> str:
    """`text` with the value after every guarding name hidden, its quotes kept."""
    parts, at = [], 0
    for found in pairs.finditer(text):
        if found.start() < at or not _guards(found.group(1)):
            continue
        value = VALUE.match(text, found.end())
        if value and not _says_nothing(found.group(1), value.group()):
            quote = next((char for char in value.group()[:2] if char in "\"'"), "")
            parts.append(f"{text[at : found.end()]}{quote}{HIDDEN}{quote}")
            at = value.end()
    return "".join(parts) + text[at:]


def _says_nothing(name: str, value: str) -> bool:
    """An unset secret, and the number after a `token` that is counted, are facts."""
    return value in ("None", "null") or bool(name.lower().endswith("token") and PLAIN.fullmatch(value))


def _hide_base64(found: re.Match[str]) -> str:
    text = found.group()
    mixed = text != text.lower() and text != text.upper()
    return HIDDEN if mixed and not HEX.fullmatch(text) else text
