"""A model's config.json: from a path, the local hub cache or the configs shipped with the doctor. Never the network."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import ddtree_doctor.fixtures
from ddtree_doctor.errors import UsageError
from ddtree_doctor.facts.config_text import LARGEST_FILE, BadConfig, parse_config
from ddtree_doctor.facts.hub import cached_config, hub_cache, is_repository
from ddtree_doctor.facts.model import ModelConfig

__all__ = ["read_model"]

SHIPPED = "shipped:"
"""What `ModelConfig.path` begins with where the values come from the doctor's own `fixtures/models`."""


def read_model(name: str, *, override: str | None = None, base: Path | None = None) -> ModelConfig:
    """The config of model `name` (a folder, a file or a hub repository), with `unknown` saying why where there is none.

    `override` is a config.json, or a folder that holds one, named by the user: what is wrong with it raises
    UsageError. `base` is the folder that relative paths start from (default: the current one).
    """
    if override is not None:
        return _named(name, override)
    for path, shown in _candidates(name, base or Path()):
        try:
            return ModelConfig(name=name, path=shown, values=parse_config(_read(path)))
        except FileNotFoundError:
            continue
        except (OSError, BadConfig) as fault:
            return ModelConfig(name=name, path=shown, unknown=f"{shown} cannot be used: {_why(fault)}")
    return ModelConfig(name=name, unknown=_nowhere(name))


def _named(name: str, given: str) -> ModelConfig:
    try:
        path = Path(os.path.expanduser(given))
        file = path / "config.json" if path.is_dir() else path
        return ModelConfig(name=name, path=str(file), values=parse_config(_read(file)))
    except (OSError, ValueError) as fault:
        raise UsageError(
            f"config {given[:200]!r} of model {name[:200]!r}: {_why(fault)}; give the model's config.json or its folder"
        ) from None


def _candidates(name: str, base: Path) -> Iterator[tuple[Path, str]]:
    """(file, how to name it), in the order in which the engine and then the doctor would look."""
    if "\0" in name or not name:
        return
    path = base / Path(os.path.expanduser(name))
    if path.suffix == ".json":
        yield path, str(path)
    yield path / "config.json", str(path / "config.json")
    cached = cached_config(name, hub_cache())
    if cached is not None:
        yield cached, str(cached)
    if is_repository(name):
        inside = f"models/{name.replace('/', '--')}/config.json"
        yield Path(ddtree_doctor.fixtures.__path__[0]) / inside, f"{SHIPPED}{inside}"


def _read(path: Path) -> bytes:
    """The bytes of a regular file. Raises OSError or BadConfig; a pipe or a device is never waited for."""
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))
    except OSError as fault:
        # No such path, a file where a folder should be, or a name that no file system takes: all mean "not there".
        if fault.errno in (errno.ENOTDIR, errno.ENAMETOOLONG):
            raise FileNotFoundError(fault.errno, fault.strerror, str(path)) from None
        raise
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise BadConfig("it is no regular file")
        if status.st_size > LARGEST_FILE:
            raise BadConfig(f"it is {status.st_size:,} bytes long; a config.json has at most {LARGEST_FILE:,}")
        return file.read(LARGEST_FILE + 1)


def _why(fault: Exception) -> str:
    if isinstance(fault, OSError) and fault.errno == errno.ELOOP:
        return "its symbolic links form a loop"
    return fault.strerror or str(fault) if isinstance(fault, OSError) else str(fault)


def _nowhere(name: str) -> str:
    return f"no config.json of {name[:200]!r} as a path, in the hub cache or among the shipped ones"
