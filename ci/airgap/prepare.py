"""Prepare SGLang and the doctor for a GPU host without a network: wheels in pieces of at most a given size.

    python ci/airgap/prepare.py --sglang 0.5.17 --python 3.12 --present host.txt --slim sm90 --piece-mib 60 --out bundle

`host.txt` is `pip freeze` of the host: what it has in a version that every carried package accepts stays there. Copy
the pieces one at a time and run `install.py` (in every piece) on the host. What is carried, what is left to the host
and what was slimmed is printed and stands in `manifest.json`.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tomllib
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE))

from pieces import pack  # noqa: E402  (a script beside this one, not a package)
from slim import slim  # noqa: E402

NEWEST_GLIBC_MINOR = 39
NOT_NEEDED_SLIM = (
    "build",
    "cuda-tile",
    "flash-attn-4",
    "helion",
    "humming-kernels",
    "modelscope",
    "modelscope-hub",
    "nccl4py",
    "nvidia-cuda-cccl",
    "nvidia-cuda-crt",
    "nvidia-cuda-nvcc",
    "nvidia-cuda-nvdisasm",
    "nvidia-cudnn-frontend",
    "nvidia-cutlass-dsl",
    "nvidia-cutlass-dsl-libs-base",
    "nvidia-cutlass-dsl-libs-core",
    "nvidia-cutlass-dsl-libs-cu12",
    "nvidia-cutlass-dsl-libs-cu13",
    "nvidia-mathdx",
    "nvidia-nvvm",
    "quack-kernels",
    "smg-grpc-proto",
    "smg-grpc-servicer",
    "tilelang",
    "timm",
    "tokenspeed-mla",
    "tokenspeed-triton",
    "torchcodec",
    "z3-solver",
)
"""What a text model on the Triton attention backend starts without (tried on SGLang 0.5.17, sm_90)."""


@dataclass(frozen=True)
class Target:
    """The host: its Python (`3.12`) and what `pip freeze` prints there."""

    python: str
    present: dict[str, Version]

    def pip_options(self) -> list[str]:
        """Options that make pip choose wheels for the host and not for this machine."""
        tag = f"cp{self.python.replace('.', '')}"
        platforms = [f"manylinux_2_{minor}_x86_64" for minor in range(NEWEST_GLIBC_MINOR, 4, -1)]
        platforms += ["manylinux2014_x86_64", "manylinux2010_x86_64", "manylinux1_x86_64", "linux_x86_64"]
        abis = [tag, "abi3", "none"]
        return [
            "--only-binary=:all:",
            f"--python-version={self.python}",
            "--implementation=cp",
            *(f"--abi={abi}" for abi in abis),
            *(f"--platform={platform}" for platform in platforms),
        ]


def main() -> int:
    """Resolve, subtract, download, slim, pack."""
    options = arguments()
    out = Path(options.out)
    if out.exists() and any(out.iterdir()):
        sys.exit(f"--out {out}: is not empty; give a new folder")
    target = Target(python=options.python, present=frozen(options.present))
    own = own_requirements(ROOT / "pyproject.toml")
    wanted = [f"sglang=={options.sglang}", *([f"torch=={options.torch}"] if options.torch else []), *own]
    resolved = resolve(wanted, target)
    left_out = set(options.without) | (set(NOT_NEEDED_SLIM) if options.slim else set())
    carried, stays = subtract(resolved, target, {canonicalize_name(name) for name in left_out}, own)
    with tempfile.TemporaryDirectory() as work:
        wheels = Path(work)
        download(carried, target, wheels)
        own_wheel(wheels)
        slimmed = [entry for wheel in sorted(wheels.glob("*.whl")) for entry in slim(wheel, options.slim)]
        facts = {"sglang": options.sglang, "python": options.python, "stays_on_host": stays, "slimmed": slimmed}
        facts["left_out"] = sorted(left_out)
        pieces = pack(wheels, out, options.piece_mib << 20, facts, HERE / "install.py")
    print(f"{len(carried) + 1} wheels in {len(pieces)} pieces under {out}; {len(stays)} packages stay on the host")
    return 0


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sglang", required=True, help="release, such as 0.5.17")
    parser.add_argument("--torch", help="release, where it is not the one that sglang pins")
    parser.add_argument("--python", required=True, help="the host's Python, such as 3.12")
    parser.add_argument("--present", help="file with the host's `pip freeze`")
    parser.add_argument("--without", nargs="*", default=[], help="packages to leave out")
    parser.add_argument("--slim", help="keep only this architecture's kernels, such as sm90")
    parser.add_argument("--piece-mib", type=int, default=60, help="largest piece (default 60)")
    parser.add_argument("--out", required=True, help="a new folder")
    return parser.parse_args()


def frozen(path: str | None) -> dict[str, Version]:
    """Name → version from `pip freeze`; lines that pin no version (paths, URLs) are passed over."""
    lines = Path(path).read_text().splitlines() if path else []
    pairs = (line.split("==", 1) for line in lines if "==" in line and not line.startswith("#"))
    return {canonicalize_name(name.strip()): Version(version.split()[0]) for name, version in pairs}


def resolve(wanted: list[str], target: Target) -> list[dict[str, Any]]:
    """The metadata of everything that `wanted` needs on the host, by pip's own resolver, without downloading it."""
    with tempfile.TemporaryDirectory() as work:
        report = Path(work) / "report.json"
        options = ["--dry-run", "--ignore-installed", "--quiet", f"--target={work}/x", f"--report={report}"]
        subprocess.run(
            [sys.executable, "-m", "pip", "install", *options, *target.pip_options(), *wanted],
            check=True,
        )
        return [item["metadata"] for item in json.loads(report.read_text())["install"]]


def own_requirements(pyproject: Path) -> list[str]:
    """What the doctor itself needs."""
    found: list[str] = tomllib.loads(pyproject.read_text(encoding="utf-8"))["project"]["dependencies"]
    return found


def subtract(
    resolved: list[dict[str, Any]], target: Target, left_out: set[str], own: Iterable[str] = ()
) -> tuple[list[str], dict[str, str]]:
    """What must be carried (`name==version`), and what stays on the host (name → version).

    A package stays if the host's version meets every requirement that a package of the resolved set, or the doctor
    itself (`own`), places on it.
    """
    environment = {"python_version": target.python, "platform_system": "Linux", "sys_platform": "linux", "extra": ""}
    demands: dict[str, list[Requirement]] = {}
    for metadata in [*resolved, {"requires_dist": list(own)}]:
        for text in metadata.get("requires_dist", ()):
            requirement = Requirement(text)
            if requirement.marker is None or requirement.marker.evaluate(environment):
                demands.setdefault(canonicalize_name(requirement.name), []).append(requirement)
    carried: list[str] = []
    stays: dict[str, str] = {}
    for metadata in resolved:
        name = canonicalize_name(metadata["name"])
        here = target.present.get(name)
        if here is not None and accepted(here, demands.get(name, ())):
            stays[name] = str(here)
        elif name not in left_out:
            carried.append(f"{name}=={metadata['version']}")
    return carried, stays


def accepted(version: Version, demands: Iterable[Requirement]) -> bool:
    """Whether `version` meets every demand; a local part (`+cu130`) does not count against it."""
    return all(demand.specifier.contains(version.public, prereleases=True) for demand in demands)


def download(carried: list[str], target: Target, into: Path) -> None:
    """Fetch exactly these wheels for the host."""
    options = ["--no-deps", "--quiet", f"--dest={into}"]
    subprocess.run([sys.executable, "-m", "pip", "download", *options, *target.pip_options(), *carried], check=True)


def own_wheel(into: Path) -> None:
    """Build the doctor's own wheel from this checkout."""
    subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "--no-deps", "--quiet", f"--wheel-dir={into}", str(ROOT)], check=True
    )
    shutil.rmtree(ROOT / "build", ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
