"""Secrets, home directories and user names leave no trace in anything the doctor writes.

Names that guard a value (`api_key`, `HF_TOKEN`, `--ssl-keyfile-password`) hide the value, shapes that are secrets by
themselves (`hf_…`, `sk-…`, a JWT, a private key) are hidden wherever they stand, URLs lose their credentials.
Invariant to keep: redacting twice is redacting once.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

__all__ = ["HIDDEN", "Redactor", "is_secret_name", "redact"]

HIDDEN = "[redacted]"
USER = "[user]"

# `token` guards a value only as a whole word at the end of a name: `num_draft_tokens` and `eos_token_id` are facts.
NAME = (
    r"(?:api[_-]?keys?|apikey|access[_-]?keys?|account[_-]?key|private[_-]?key|secret[_-]?key|encryption[_-]?key"
    r"|watermark_key(?:_b)?|pass(?:word|wd|phrase)|pwd|secrets?|credentials?|auth[_-]?token|client[_-]?secret|cookie"
    r"|(?<![#A-Za-z])(?<!bos_)(?<!eos_)(?<!pad_)(?<!unk_)(?<!mask_)(?<!draft_)(?<!stop_)token)"
)
SHAPES = (
    r"hf_[A-Za-z0-9]{16,}",
    r"sk-[A-Za-z0-9_-]{12,}",
    r"gh[pousr]_[A-Za-z0-9]{16,}",
    r"github_pat_[A-Za-z0-9_]{16,}",
    r"gl(?:pat|rt|ptt)-[A-Za-z0-9_-]{12,}",
    r"xox[abeprs]-[A-Za-z0-9-]{8,}",
    r"(?:AKIA|ASIA)[0-9A-Z]{16}",
    r"AIza[0-9A-Za-z_-]{30,}",
    r"ya29\.[0-9A-Za-z_-]{16,}",
    r"nvapi-[A-Za-z0-9_-]{16,}",
    r"(?:npm|dckr_pat|dop_v1|r8)_[A-Za-z0-9-]{16,}",
    r"pypi-[A-Za-z0-9_-]{16,}",
    r"eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,}(?:\.[A-Za-z0-9_-]*)?",
    r"-----BEGIN [A-Z ]{0,24}PRIVATE KEY-----[A-Za-z0-9+/=\s\\]*(?:-----END [A-Z ]{0,24}PRIVATE KEY-----)?",
)
# 40 or more characters of base64 without a separator; hexadecimal is left alone (commits, digests).
BASE64 = re.compile(r"(?<![A-Za-z0-9+=_])(?=[A-Za-z+]{0,39}[0-9])[A-Za-z0-9+]{40,}={0,2}(?![A-Za-z0-9_])")
HEX = re.compile(r"[0-9a-f]+|[0-9A-F]+")
URL_LOGIN = re.compile(r"(?<=://)[^\s/@'\"<>\[\]]*(?:\[redacted\])?[^\s/@'\"<>\[\]]*@")
BEARER = re.compile(
    r"\b(authorization[\"']?\s{0,4}[:=]\s{0,4}[\"']?(?:(?:bearer|basic|digest|token)\s{1,4})?|bearer\s{1,4})"
    r"[^\s\"',;]+",
    re.IGNORECASE,
)
SUFFIX = r"(?:[_-](?:value|file|data|json|base64|b64))?"
SPACED = r"[\"']?\s{0,4}(?:=>|[=:])\s{0,4}"
STRING = r"\"(?:[^\"\\\n]|\\.)*(?:\"|$)|'(?:[^'\\\n]|\\.)*(?:'|$)"
QUOTED = re.compile(rf"({NAME}{SUFFIX}{SPACED}[a-z]?)({STRING})[^\s,;:&)}}\]]*", re.IGNORECASE | re.MULTILINE)
BARE = re.compile(rf"({NAME}{SUFFIX}{SPACED})([^\s\"',;&)}}]+)", re.IGNORECASE)
FLAG = re.compile(rf"(--[a-z-]{{0,40}}?{NAME}[\"']?(?:\s{{1,4}}|\s{{0,2}},\s{{0,4}})[\"']?)([^\s\"',]+)", re.IGNORECASE)
SECRET_NAME = re.compile(rf"{NAME}{SUFFIX}$", re.IGNORECASE)
QUERY = re.compile(
    r"([?&](?:key|sig|signature|sas|auth|x-amz-[a-z-]{1,24}|x-goog-[a-z-]{1,24})=)[^\s&\"']+", re.IGNORECASE
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
SHAPE = re.compile(r"(?<![A-Za-z0-9])(?:" + "|".join(SHAPES) + ")")
# Accounts of containers and images: hiding these words everywhere would hide facts.
COMMON = frozenset(("root", "user", "users", "ubuntu", "admin", "app", "sglang", "vllm", "python", "work", "shared"))


def is_secret_name(name: str) -> bool:
    """Whether a value under `name` (a flag, a variable, a field) is a secret: `--api-key`, `HF_TOKEN`."""
    return SECRET_NAME.search(name) is not None


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
        for _ in range(8):  # one replacement can bare another; two rounds are the rule, a fixed point is the promise
            hidden = self._once(text)
            if hidden == text:
                break
            text = hidden
        return text

    def _add(self, names: Iterable[str | None]) -> None:
        self._names |= {name for name in names if name and len(name) > 2 and name.lower() not in COMMON}

    def _once(self, text: str) -> str:
        text = SHAPE.sub(HIDDEN, text)
        text = QUOTED.sub(_hide_quoted, text)
        text = BARE.sub(_hide_bare, text)
        text = FLAG.sub(_hide_bare, text)
        text = BEARER.sub(rf"\1{HIDDEN}", text)
        text = QUERY.sub(rf"\1{HIDDEN}", text)
        text = URL_LOGIN.sub(f"{HIDDEN}@", text)
        text = BASE64.sub(_hide_base64, text)
        text = HOME_WINDOWS.sub("~", HOME.sub("~", text))
        text = WHO.sub(rf"\1{USER}", text)
        text = ADDRESS.sub(f"{USER}@", text)
        for name in sorted(self._names, key=len, reverse=True):
            text = re.sub(rf"(?<![A-Za-z0-9]){re.escape(name)}(?![A-Za-z0-9])", USER, text)
        return text


def _hide_quoted(found: re.Match[str]) -> str:
    quote = found.group(2)[0]
    return f"{found.group(1)}{quote}{HIDDEN}{quote}"


def _hide_bare(found: re.Match[str]) -> str:
    key, value = found.group(1), found.group(2)
    token = key.lower().rstrip("\"' \t=:,>").endswith("token")
    if value in ("None", "null") or (token and PLAIN.fullmatch(value)):
        return found.group()
    return f"{key}{HIDDEN}"


def _hide_base64(found: re.Match[str]) -> str:
    text = found.group()
    mixed = text != text.lower() and text != text.upper()
    return HIDDEN if mixed and not HEX.fullmatch(text) else text
