"""GPUs by name, for judging a launch that will run on another machine (`--gpu B300x8`).

Compute capability: https://developer.nvidia.com/cuda-gpus. Memory: each product's data sheet (https://www.nvidia.com,
the page of that name); a driver reports up to 4 % less, so what is derived from it is an upper bound.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ddtree_doctor.errors import UsageError
from ddtree_doctor.facts.model import Gpu

__all__ = ["CAPABILITIES", "PRODUCTS", "Product", "parse_gpus", "product_named"]

GIB = 1024
MOST_GPUS = 4096


@dataclass(frozen=True, slots=True)
class Product:
    """A GPU as it is sold. `memory_gib` is what the data sheet names; `also` are other spellings in use."""

    name: str
    capability: tuple[int, int]
    memory_gib: int
    also: tuple[str, ...] = ()


PRODUCTS = (
    Product("T4", (7, 5), 16, ("Tesla T4",)),
    Product("A100", (8, 0), 80, ("A100 80GB", "A100-SXM4-80GB", "A100 80GB PCIe")),
    Product("A100 40GB", (8, 0), 40, ("A100-SXM4-40GB", "A100-PCIE-40GB")),
    Product("A800", (8, 0), 80),
    Product("A30", (8, 0), 24),
    Product("A10", (8, 6), 24, ("A10G",)),
    Product("A40", (8, 6), 48),
    Product("RTX A6000", (8, 6), 48, ("A6000",)),
    Product("RTX 3090", (8, 6), 24, ("GeForce RTX 3090",)),
    Product("L4", (8, 9), 24),
    Product("L40", (8, 9), 48),
    Product("L40S", (8, 9), 48),
    Product("L20", (8, 9), 48),
    Product("RTX 4090", (8, 9), 24, ("GeForce RTX 4090",)),
    Product("RTX 6000 Ada", (8, 9), 48, ("RTX 6000 Ada Generation",)),
    Product("H100", (9, 0), 80, ("H100 80GB HBM3", "H100 SXM", "H100 PCIe")),
    Product("H100 NVL", (9, 0), 94),
    Product("H800", (9, 0), 80),
    Product("H20", (9, 0), 96),
    Product("H200", (9, 0), 141, ("H200 SXM", "H200 NVL")),
    Product("GH200", (9, 0), 96, ("GH200 96GB", "GH200 480GB")),
    Product("GH200 144GB", (9, 0), 144),
    Product("B200", (10, 0), 180),
    Product("GB200", (10, 0), 186),
    Product("B300", (10, 3), 270, ("B300 SXM6",)),
    Product("GB300", (10, 3), 279),
    Product("Thor", (11, 0), 128, ("Jetson Thor", "Jetson AGX Thor")),
    Product("RTX 5090", (12, 0), 32, ("GeForce RTX 5090",)),
    Product("RTX 5080", (12, 0), 16, ("GeForce RTX 5080",)),
    Product(
        "RTX PRO 6000",
        (12, 0),
        96,
        (
            "RTX PRO 6000 Blackwell",
            "RTX PRO 6000 Blackwell Server Edition",
            "RTX PRO 6000 Blackwell Workstation Edition",
            "RTX PRO 6000 Blackwell Max-Q Workstation Edition",
            "RTX 6000 Pro",
        ),
    ),
    Product("RTX PRO 5000", (12, 0), 48, ("RTX PRO 5000 Blackwell",)),
    Product("GB10", (12, 1), 128, ("DGX Spark",)),
)

CAPABILITIES = (
    (7, 0),
    (7, 2),
    (7, 5),
    (8, 0),
    (8, 6),
    (8, 7),
    (8, 9),
    (9, 0),
    (10, 0),
    (10, 3),
    (11, 0),
    (12, 0),
    (12, 1),
)
"""The compute capabilities that a CUDA device of the last years can have, oldest first."""

_COUNT_FIRST = re.compile(r"(\d{1,9}) ?[x×*] ?(?=\D)(.+)")
_COUNT_LAST = re.compile(r"(.+?) ?[x×*] ?(\d{1,9})")
_ARCH = re.compile(r"(?:sm|compute)?[ _-]?(\d{1,2})[._]?(\d)[af]?", re.ASCII)


def parse_gpus(text: str) -> tuple[Gpu, ...]:
    """The GPUs that `text` names: `sm_120x8`, `B300x8`, `2xH100`, `RTX PRO 6000 x 8`, `H200`.

    Raises UsageError where the name or the count is none that is known.
    """
    name, count = _split(" ".join(text.split()))
    if not 1 <= count <= MOST_GPUS:
        raise UsageError(f"--gpu {text[:80]!r}: {count} GPUs; allowed are 1 to {MOST_GPUS}")
    return (_gpu(name, text),) * count


def product_named(name: str) -> Product | None:
    """The product of that name, whatever its case, spaces, hyphens and a leading `NVIDIA`; None if there is none."""
    wanted = _plain(name)
    return next((p for p in PRODUCTS if wanted in {_plain(spelling) for spelling in (p.name, *p.also)}), None)


def _split(text: str) -> tuple[str, int]:
    if first := _COUNT_FIRST.fullmatch(text):
        return first.group(2), int(first.group(1))
    if last := _COUNT_LAST.fullmatch(text):
        return last.group(1), int(last.group(2))
    return text, 1


def _gpu(name: str, text: str) -> Gpu:
    if product := product_named(name):
        return Gpu(name=product.name, capability=product.capability, memory_mib=product.memory_gib * GIB)
    if name.lower().startswith(("sm", "compute")) and (arch := _ARCH.fullmatch(name.lower())):
        capability = (int(arch.group(1)), int(arch.group(2)))
        if capability in CAPABILITIES:
            return Gpu(name=f"sm_{capability[0]}{capability[1]}", capability=capability)
    archs = ", ".join(f"sm_{major}{minor}" for major, minor in CAPABILITIES)
    products = ", ".join(product.name for product in PRODUCTS)
    raise UsageError(
        f"--gpu {text[:80]!r}: no GPU of that name is known; give an architecture ({archs}) or a product ({products}), "
        "with a count such as B300x8"
    )


def _plain(name: str) -> str:
    return re.sub(r"[\s_-]+", "", name.lower()).removeprefix("nvidia").removeprefix("geforce")
