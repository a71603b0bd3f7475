"""What a parsed launch is. Frozen and serialisable; secrets are already redacted here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = ["Flag", "Launch", "Location"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Location:
    """A place in what the user gave. `line` is 1-based; `file` is None for a command on the command line."""

    file: str | None = None
    line: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Flag:
    """One option as the shell would pass it.

    `option` is the spelling used (`--tp`), `name` the engine's field (`tp_size`), None where the engine has no such
    option. `values` are the words after it, redacted where secret; empty for a switch. `unknown` says why the value
    cannot be known before run time (an unset variable, `$(seq …)`), empty where it is known.
    """

    option: str
    name: str | None
    values: tuple[str, ...] = ()
    location: Location = field(default_factory=Location)
    unknown: str = ""

    @property
    def value(self) -> str | None:
        """The only or last word given, None for a switch or where it is not known."""
        return self.values[-1] if self.values and not self.unknown else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """One deployment's command.

    `command` is one line, redacted. `flags` is what the shell would pass, in order. `environment` holds what the file
    sets for the command. `notes` says what was found on the way (a comment after a backslash ended the command).
    `intended` is the launch that was probably meant, None where it does not differ. `unknown` maps a field name to
    why it cannot be known (`config` where the whole --config file is not, `env NAME` for a variable).
    """

    command: str
    entry: str = ""
    location: Location = field(default_factory=Location)
    flags: tuple[Flag, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()
    unknown: Mapping[str, str] = field(default_factory=dict)
    intended: Launch | None = None

    def flag(self, name: str) -> Flag | None:
        """The last flag for the engine's field `name` (argparse lets the last one win), None if not given."""
        return next((flag for flag in reversed(self.flags) if flag.name == name), None)

    @property
    def role(self) -> str | None:
        """`prefill` or `decode` where the launch is one side of disaggregated serving, else None."""
        flag = self.flag("disaggregation_mode")
        return flag.value if flag and flag.value in ("prefill", "decode") else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """Something that reading the launch brought to light: `kind` is a stable word, `text` a sentence."""

    kind: str
    text: str
    location: Location = field(default_factory=Location)
