"""On the host: check the pieces and install them into one folder. Needs Python with pip, and no network.

    python3 install.py --to /opt/doctor piece-1 piece-2 …     all pieces at once, or one at a time as they arrive
    . /opt/doctor/activate.sh                                 then `doctor env`

A piece that is installed is remembered; a wheel cut over several pieces waits in the folder until its last part came.
Exit status 0: complete; 4: sound so far, pieces are missing; 2: unusable.
"""

import argparse
import hashlib
import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

MORE_TO_COME = 4


def main() -> int:
    """Check every file's digest first, then install; nothing is installed from a broken piece."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--to", required=True, help="folder to install into")
    parser.add_argument("pieces", nargs="+", help="folders piece-N")
    options = parser.parse_args()
    home = Path(options.to)
    state = home / ".pieces.json"
    known = set(json.loads(state.read_text())) if state.exists() else set()
    ready = []
    for piece in map(Path, options.pieces):
        manifest = read_manifest(piece)
        files = next((p["files"] for p in manifest["pieces"] if (piece / next(iter(p["files"]))).exists()), None)
        if files is None:
            sys.exit(f"{piece}: holds none of the manifest's files; copy the whole piece")
        check(piece, files)
        ready += [piece / name for name in files]
        known |= set(files)
    every = {name for piece in manifest["pieces"] for name in piece["files"]}
    wheels = [path for path in ready if path.suffix == ".whl"] + join(ready, home / ".parts", every)
    if wheels:
        install(wheels, home)
    state.write_text(json.dumps(sorted(known)))
    activate(home)
    missing = every - known
    print(f"installed {len(wheels)} wheels into {home}; {len(missing)} files still to come")
    return MORE_TO_COME if missing else 0


def read_manifest(piece: Path) -> dict:
    """The manifest of a piece; ends the program where there is none."""
    try:
        return json.loads((piece / "manifest.json").read_text())
    except (OSError, ValueError) as broken:
        sys.exit(f"{piece}/manifest.json: cannot be read ({broken}); copy the whole piece")


def check(piece: Path, files: dict) -> None:
    """Every file is there with the digest of the manifest."""
    for name, digest in files.items():
        path = piece / name
        if not path.is_file():
            sys.exit(f"{path}: is missing; copy the whole piece")
        if hashlib.sha256(path.read_bytes()).hexdigest() != digest:
            sys.exit(f"{path}: was damaged on the way; copy it again")


def join(ready: list, parts: Path, every: set) -> list:
    """Keep parts of cut wheels; the wheels whose parts are all here, joined."""
    parts.mkdir(parents=True, exist_ok=True)
    for path in ready:
        if ".whl.part-" in path.name:
            shutil.copy(path, parts / path.name)
    whole = []
    for name in sorted({re.sub(r"\.part-\d+$", "", n) for n in every if ".whl.part-" in n}):
        needed = sorted(n for n in every if n.startswith(f"{name}.part-"))
        if all((parts / part).exists() for part in needed):
            with (parts / name).open("wb") as out:
                for part in needed:
                    out.write((parts / part).read_bytes())
            for part in needed:
                (parts / part).unlink()
            whole.append(parts / name)
    return whole


def install(wheels: list, home: Path) -> None:
    """Install exactly these wheels, asking no index.

    Into a prefix, not with `--target`: that replaces a folder that two packages share (`nvidia/`) instead of merging.
    """
    options = ["--no-index", "--no-deps", "--no-compile", "--no-cache-dir", "--ignore-installed", "--quiet"]
    subprocess.run(
        [sys.executable, "-m", "pip", "install", *options, f"--prefix={home.resolve()}", *map(str, wheels)], check=True
    )


def activate(home: Path) -> None:
    """Write `activate.sh`, which puts what was installed before the host's own packages."""
    folders = ":".join(str(folder.resolve()) for folder in sorted(home.glob("**/python3*/*-packages")))
    (home / "activate.sh").write_text(
        f"export PYTHONPATH={shlex.quote(folders)}${{PYTHONPATH:+:$PYTHONPATH}}\n"
        f"export PATH={shlex.quote(str((home / 'bin').resolve()))}:$PATH\n"
    )


if __name__ == "__main__":
    sys.exit(main())
