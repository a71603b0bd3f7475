"""The machine judged for: its GPUs, driver, Python and the packages that matter to SGLang."""

from __future__ import annotations

import platform

from ddtree_doctor.facts.gpus import parse_gpus
from ddtree_doctor.facts.model import Host, Package
from ddtree_doctor.facts.nvml import Seen, see_gpus
from ddtree_doctor.facts.packages import Installed, installed
from ddtree_doctor.facts.requirements import metadata_text, required_names

__all__ = ["ENGINE_PACKAGES", "read_host"]

ENGINE_PACKAGES = (
    "sglang",
    "torch",
    "triton",
    "sglang-kernel",
    "sgl-kernel",
    "flashinfer-python",
    "flashinfer-cubin",
    "flashinfer-jit-cache",
    "transformers",
    "nvidia-ml-py",
    "ddtree-doctor",
)
"""Read whatever sglang requires, so that a host without sglang still tells what it has."""

_EXPECTED = ("sglang", "torch", "triton")


def read_host(gpu: str | None = None) -> Host:
    """The facts of this machine, with the GPUs that `gpu` names (`sm_120x8`, `B300x8`) in place of its own.

    A missing driver, GPU or package is a normal state: the field is empty and `Host.unknown` says why. Raises
    UsageError where `gpu` names no GPU that is known.
    """
    seen = see_gpus() if gpu is None else Seen(gpus=parse_gpus(gpu))
    found = installed()
    packages = _packages(found)
    absent = {f"packages.{name}": "not installed" for name in _EXPECTED if name not in packages}
    return Host(
        python=platform.python_version(),
        platform=f"{platform.system().lower()} {platform.machine()}",
        gpus=seen.gpus,
        source=_source(gpu, seen),
        driver=seen.driver,
        packages=packages,
        unknown={**seen.unknown, **absent},
    )


def _packages(found: Installed) -> dict[str, Package]:
    wanted = dict.fromkeys((*ENGINE_PACKAGES, *_required_by_engine(found)))
    read = ((name, found.package(name)) for name in wanted)
    return {name: package for name, package in sorted(read) if package is not None}


def _required_by_engine(found: Installed) -> tuple[str, ...]:
    if "sglang" not in found:
        return ()
    version, folder = found["sglang"]
    return required_names(metadata_text(folder, "sglang", version))


def _source(gpu: str | None, seen: Seen) -> str:
    if gpu is not None:
        return "--gpu"
    return "nvml" if seen.gpus else "none"
