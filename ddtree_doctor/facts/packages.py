"""Installed distributions by the names of their metadata folders: no import, no parsing, a few milliseconds.

The folder of an installed wheel is `<name>-<version>.dist-info` (PyPA, "Recording installed projects"), so one listing
of each `sys.path` entry tells every version.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from ddtree_doctor.facts.archs import architecture_order
from ddtree_doctor.facts.fatbin import library_archs
from ddtree_doctor.facts.model import Package

__all__ = ["Installed", "archs_of", "installed", "normal"]

_METADATA = re.compile(r"(?P<name>.+?)-(?P<version>\d[^-]*)(?:-py\d[\d.]*)?\.(?:dist|egg)-info")
_CUBIN = re.compile(r"sm_?(\d{2,3})([af]?)(?!\d)", re.IGNORECASE)
_MOST_CUBINS = 20_000

_HOPPER_LIBRARIES, _OTHER_LIBRARIES = "sm90", "sm100"
_HOPPER = "sm_90"
"""sglang-kernel loads `sm90/common_ops` on a GPU of capability 9.0 and `sm100/common_ops` on every other (its
`load_utils.py:_load_architecture_specific_ops`), whatever else a library carries."""


class Installed(dict[str, tuple[str, Path]]):
    """Normalised distribution name → (version, folder that it is installed in)."""

    def package(self, name: str) -> Package | None:
        """The package of that normalised name with the architectures that it carries, None where it is absent."""
        if name not in self:
            return None
        version, folder = self[name]
        return Package(name=name, version=version, archs=archs_of(name, folder))


def installed(paths: Iterable[str] | None = None) -> Installed:
    """The distributions on `paths` (default `sys.path`), the first of a name winning as for an import."""
    found = Installed()
    for path in sys.path if paths is None else paths:
        for entry in _entries(path or "."):
            if parsed := _METADATA.fullmatch(entry):
                found.setdefault(normal(parsed["name"]), (parsed["version"], Path(path or ".")))
    return found


def normal(name: str) -> str:
    """A distribution's name in the one spelling that compares (PEP 503): `flashinfer_python` → `flashinfer-python`."""
    return re.sub(r"[-_.]+", "-", name).lower()


def archs_of(name: str, folder: Path) -> tuple[str, ...] | None:
    """The GPU architectures that distribution `name` under `folder` carries; None where there is no way to tell."""
    reader = _READERS.get(name)
    return None if reader is None else reader(folder)


def _torch(folder: Path) -> tuple[str, ...] | None:
    return library_archs(folder / "torch/lib/libtorch_cuda.so")


def _sglang_kernel(folder: Path) -> tuple[str, ...] | None:
    package = folder / "sgl_kernel"
    split = {name: _first_library(package / name) for name in (_HOPPER_LIBRARIES, _OTHER_LIBRARIES)}
    if not any(split.values()):
        return _first_library(package)
    hopper = [arch for arch in split[_HOPPER_LIBRARIES] or () if arch.startswith(_HOPPER)]
    others = [arch for arch in split[_OTHER_LIBRARIES] or () if not arch.startswith(_HOPPER)]
    return tuple(sorted({*hopper, *others}, key=architecture_order))


def _first_library(folder: Path) -> tuple[str, ...] | None:
    libraries = sorted(folder.glob("common_ops.*so"))
    return library_archs(libraries[0]) if libraries else None


def _flashinfer_cubins(folder: Path) -> tuple[str, ...] | None:
    """Architectures in the names of FlashInfer's precompiled kernels (`fmhaSm100fKernel_….cubin`)."""
    archs: set[str] = set()
    seen = 0
    for _, _, files in os.walk(folder / "flashinfer_cubin"):
        seen += len(files)
        cubins = (file for file in files if file.endswith(".cubin"))
        archs.update(f"sm_{m[1]}{m[2].lower()}" for file in cubins if (m := _CUBIN.search(file)))
        if seen > _MOST_CUBINS:
            break
    return tuple(sorted(archs, key=architecture_order)) or None


_READERS: Mapping[str, Callable[[Path], tuple[str, ...] | None]] = {
    "torch": _torch,
    "sglang-kernel": _sglang_kernel,
    "sgl-kernel": _sglang_kernel,
    "flashinfer-cubin": _flashinfer_cubins,
}


def _entries(path: str) -> list[str]:
    try:
        return os.listdir(path)
    except OSError:
        return []
