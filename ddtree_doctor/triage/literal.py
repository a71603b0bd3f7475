"""Read Python reprs out of a log: `ServerArgs(tp_size=8, …)`, `{'model': 'x', …}`, nested and possibly cut off.

A bounded parser of its own: nothing is evaluated, depth and size are capped, and a text that breaks off gives what
was read so far. A call `Name(key=value)` becomes a dict; `<Enum.X: 1>` and other bare words stay text.
"""

from __future__ import annotations

from ddtree_doctor.triage.patterns import pattern

__all__ = ["CAP", "parse"]

CAP = 256 * 1024
DEPTH_MAX = 12
ITEMS_MAX = 20_000
CLOSE = {"(": ")", "[": "]", "{": "}"}
CONSTANTS = {"None": None, "True": True, "False": False, "null": None, "true": True, "false": False}
NUMBER = pattern(r"-?\d{1,20}(?:\.\d{0,20})?(?:e[+-]?\d{1,3})?(?![\w.])")
CALL = pattern(r"[A-Za-z_][\w.]{0,120}\(")
KEY = pattern(r"([A-Za-z_]\w{0,120})=(?!=)")
STRING = pattern(r"[bru]?(?:'((?:[^'\\]|\\.)*)(?:'|$)|\"((?:[^\"\\]|\\.)*)(?:\"|$))")
BARE = pattern(r"[^\s,()\[\]{}:=][^,()\[\]{}=]{0,400}")
ANGLE = pattern(r"<[^>]{0,400}(?:>|$)")


def parse(text: str) -> object:
    """The value that `text` begins with; None where it begins with none. Raises nothing on any text."""
    return _Reader(text[:CAP]).value(0)


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.items = 0

    def value(self, depth: int) -> object:
        self._blank()
        head = self.text[self.at : self.at + 1]
        if head in CLOSE and head:
            self.at += 1
            return self._body(CLOSE[head], depth) if head != "{" else self._mapping(depth)
        if found := CALL.match(self.text, self.at):
            self.at = found.end()
            return self._body(")", depth)
        for pattern_, convert in ((STRING, _string), (NUMBER, _number), (ANGLE, _whole), (BARE, _bare)):
            if found := pattern_.match(self.text, self.at):
                self.at = found.end()
                return convert(found.group(), found.groups())
        return None

    def _body(self, close: str, depth: int) -> object:
        """Items up to `close`: a dict where they are `key=value`, else a list."""
        named: dict[str, object] = {}
        plain: list[object] = []
        while self._more(close, depth):
            if found := KEY.match(self.text, self.at):
                self.at = found.end()
                named[found.group(1)] = self.value(depth + 1)
            else:
                plain.append(self.value(depth + 1))
            self._separate(close)
        return named or plain

    def _mapping(self, depth: int) -> object:
        named: dict[str, object] = {}
        plain: list[object] = []
        while self._more("}", depth):
            key = self.value(depth + 1)
            self._blank()
            if self.text[self.at : self.at + 1] == ":":
                self.at += 1
                named[str(key)] = self.value(depth + 1)
            else:
                plain.append(key)
            self._separate("}")
        return named or plain

    def _more(self, close: str, depth: int) -> bool:
        self._blank()
        self.items += 1
        if self.at >= len(self.text) or self.items > ITEMS_MAX or depth > DEPTH_MAX:
            self.at = len(self.text)
            return False
        if self.text[self.at] == close:
            self.at += 1
            return False
        return True

    def _separate(self, close: str) -> None:
        """Go past one comma; where something else stands in the way, past that, so that reading always advances."""
        self._blank()
        here = self.text[self.at : self.at + 1]
        if here != close and here:
            self.at += 1

    def _blank(self) -> None:
        while self.at < len(self.text) and self.text[self.at] in " \t":
            self.at += 1


def _string(_: str, groups: tuple[str | None, ...]) -> object:
    text = groups[0] if groups[0] is not None else groups[1] or ""
    return text.replace("\\'", "'").replace('\\"', '"').replace("\\\\", "\\") if "\\" in text else text


def _number(text: str, _: tuple[str | None, ...]) -> object:
    return float(text) if "." in text or "e" in text else int(text)


def _whole(text: str, _: tuple[str | None, ...]) -> object:
    return text


def _bare(text: str, _: tuple[str | None, ...]) -> object:
    word = text.strip()
    return CONSTANTS.get(word, word)
