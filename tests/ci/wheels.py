"""Tiny wheels made on the spot, and the air-gap scripts as modules."""

import hashlib
import importlib.util
import sys
import zipfile
from base64 import urlsafe_b64encode
from pathlib import Path
from types import ModuleType

AIRGAP = Path(__file__).resolve().parents[2] / "ci" / "airgap"


def script(name: str) -> ModuleType:
    """`ci/airgap/<name>.py` as a module."""
    sys.path.insert(0, str(AIRGAP))
    try:
        spec = importlib.util.spec_from_file_location(f"airgap_{name}", AIRGAP / f"{name}.py")
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
        return module
    finally:
        sys.path.remove(str(AIRGAP))


def make_wheel(folder: Path, name: str, files: dict[str, bytes]) -> Path:
    """An installable pure wheel `name-1.0` with `files`."""
    info = f"{name}-1.0.dist-info"
    held = {
        **files,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n".encode(),
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = [f"{path},sha256={_digest(data)},{len(data)}\n" for path, data in held.items()]
    held[f"{info}/RECORD"] = "".join([*record, f"{info}/RECORD,,\n"]).encode()
    wheel = folder / f"{name}-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for path, data in held.items():
            archive.writestr(path, data)
    return wheel


def _digest(data: bytes) -> str:
    return urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
