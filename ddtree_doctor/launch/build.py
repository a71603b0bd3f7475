"""Makes a Launch of what was found: flags, environment, notes, and the launch that was probably meant."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ddtree_doctor.launch.ansi import quote
from ddtree_doctor.launch.command import Entry, Found
from ddtree_doctor.launch.config import Config, read_config
from ddtree_doctor.launch.model import Flag, Launch, Location, Note
from ddtree_doctor.launch.nodes import Cut
from ddtree_doctor.launch.options import Flags
from ddtree_doctor.launch.redaction import redact_environment, redact_fields
from ddtree_doctor.launch.repair import explain, repair
from ddtree_doctor.launch.scope import Remark
from ddtree_doctor.launch.secrets import Vault
from ddtree_doctor.launch.table import Table
from ddtree_doctor.launch.words import Field

__all__ = ["Builder"]

SERVE = "sglang serve"

_SAFE = re.compile(r"[A-Za-z0-9_@%+=:,./*^-]+")


@dataclass(frozen=True, slots=True)
class Builder:
    """Builds launches of one file. Config files are looked for relative to `base`."""

    table: Table
    vault: Vault
    file: str | None
    base: Path

    def learn(self, found: Found) -> None:
        """Meet every secret of a launch, so that none is left where another launch has it under another name."""
        for entry in (found.passed, found.meant):
            if entry:
                redact_fields(entry.arguments, self.table, self.vault)
                redact_environment(entry.environment, self.vault)

    def launch(self, found: Found) -> Launch:
        """The launch as the shell passes it, with the one that was meant where they differ."""
        meant_entry = found.meant or found.passed
        passed = self._entry(found.passed) if found.passed else None
        meant, repairs = self._repaired(meant_entry) if meant_entry else (passed, [])
        cuts = [explain(cut, redact_fields(lost, self.table, self.vault)) for cut, lost in self._cut(found)]
        first = [self._note(remark) for remark in (*cuts, *repairs)]
        if passed is None:
            command = meant.command if meant else ""
            return Launch(command=command, location=self._at(found.line), notes=tuple(first), intended=meant)
        notes = (*first, *passed.notes, *(self._note(remark) for remark in self._remarks(found, passed)))
        differs = meant is not None and (meant.command, meant.flags) != (passed.command, passed.flags)
        return replace(passed, notes=_distinct(notes), intended=meant if differs else None)

    def _cut(self, found: Found) -> Iterable[tuple[Cut, Sequence[Field]]]:
        return zip(found.cuts, found.lost, strict=True)

    def _repaired(self, entry: Entry) -> tuple[Launch, list[Remark]]:
        """The launch of the words as they were meant, and what was changed."""
        fields, remarks = repair(redact_fields(entry.arguments, self.table, self.vault), self.table)
        launch = self._entry(replace(entry, arguments=tuple(_config_in_two_words(fields))))
        return replace(launch, notes=()), remarks

    def _entry(self, entry: Entry) -> Launch:
        arguments = redact_fields(entry.arguments, self.table, self.vault)
        environment = redact_environment(entry.environment, self.vault)
        given = _model_named(arguments) if entry.name == SERVE else arguments
        own = Flags(self.table, self.file, serve=entry.name == SERVE)
        own.read(given)
        config = read_config(given, self.table, self.base)
        flags, remarks, unknown = self._with_config(own, config)
        for name, (_, why) in environment.items():
            if why:
                unknown[f"env {name}"] = why
        assumed = _assumed(arguments, entry)
        return Launch(
            command=" ".join(_shown(one) for one in (*entry.words, *arguments)),
            entry=entry.name,
            location=self._at(next((one.line for one in entry.words), None)),
            flags=flags,
            environment={name: text for name, (text, why) in environment.items() if not why},
            notes=tuple(self._note(remark) for remark in (*remarks, *assumed)),
            unknown=unknown,
        )

    def _with_config(self, own: Flags, config: Config | None) -> tuple[tuple[Flag, ...], list[Remark], dict[str, str]]:
        """The config file's flags before the command line's own: the last one wins."""
        if config is None:
            return tuple(own.flags), own.remarks, _unknown(own.flags, own.unknown)
        read = Flags(self.table, config.path)
        read.read(redact_fields(config.fields, self.table, self.vault))
        remarks = [*([config.remark] if config.remark else []), *read.remarks, *own.remarks]
        flags = (*read.flags, *own.flags)
        unknown = _unknown(flags, {**read.unknown, **own.unknown})
        if config.why:
            unknown["config"] = f"{config.path}: {config.why}" if config.path else config.why
        return flags, remarks, unknown

    def _remarks(self, found: Found, passed: Launch) -> Iterable[Remark]:
        yield from found.remarks
        for name in found.unexported:
            if name not in passed.environment:
                yield Remark("not-exported", f"{name} is set but not exported: SGLang does not see it", found.line)

    def _note(self, remark: Remark) -> Note:
        return Note(kind=remark.kind, text=self.vault.scrub(remark.text), location=self._at(remark.line))

    def _at(self, line: int | None) -> Location:
        return Location(file=self.file, line=line)


def _model_named(arguments: tuple[Field, ...]) -> tuple[Field, ...]:
    """`sglang serve MODEL …` with the option that SGLang puts before MODEL (`cli/serve.py`)."""
    rest = arguments
    while rest[:1] and rest[0].text.partition("=")[0] == "--model-type":
        rest = rest[1 if "=" in rest[0].text else 2 :]
    before = arguments[: len(arguments) - len(rest)]
    if rest and not rest[0].text.startswith("-"):
        return (*before, Field.plain("--model-path", rest[0].line), *rest)
    return arguments


def _config_in_two_words(fields: list[Field]) -> list[Field]:
    """`--config=FILE` as it was meant: SGLang reads the file only from two words."""
    if any(one.text == "--config" for one in fields):
        return fields
    split: list[Field] = []
    for one in fields:
        name, equals, value = one.text.partition("=")
        split += [one.with_text(name), one.with_text(value)] if equals and name == "--config" else [one]
    return split


def _unknown(flags: Sequence[Flag], others: Mapping[str, str]) -> dict[str, str]:
    """Field → why it is not known, of the flag that wins."""
    last = {flag.name or flag.option.lstrip("-").replace("-", "_"): flag.unknown for flag in flags}
    return {**{name: why for name, why in last.items() if why}, **others}


def _assumed(arguments: Sequence[Field], entry: Entry) -> list[Remark]:
    """What was assumed for the words and the environment, once each."""
    pieces = [piece for one in arguments for piece in one.pieces]
    pieces += [piece for value in entry.environment.values() for piece in value]
    found = {piece.assumed: piece.line for piece in pieces if piece.assumed}
    return [Remark("default-taken", text, line) for text, line in found.items()]


def _shown(one: Field) -> str:
    """A word as it may stand in a shell."""
    if _SAFE.fullmatch(one.text) or (one.why and one.text.isprintable()):
        return one.text
    return quote(one.text)


def _distinct(notes: Iterable[Note]) -> tuple[Note, ...]:
    return tuple(dict.fromkeys(notes))
