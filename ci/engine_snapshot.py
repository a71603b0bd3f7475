"""Write the engine facts that specimens are judged with, fixtures/specimens/engine-VERSION.json, from its source.

python ci/engine_snapshot.py           the SGLang installed here
python ci/engine_snapshot.py DIR       the SGLang whose source lies in DIR
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, replace
from pathlib import Path

from ddtree_doctor.engine.source.read import read_engine
from ddtree_doctor.facts.model import Engine

FOLDER = Path(__file__).parents[1] / "fixtures" / "specimens"


def snapshot(engine: Engine) -> str:
    """The facts as JSON, one option or seam a line. Where the engine lay on this machine is nobody's business."""
    fields = asdict(replace(engine, root=None))
    lines = [f" {json.dumps(name)}: {_value(name, value)}" for name, value in fields.items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _value(name: str, value: object) -> str:
    if name not in ("options", "seams") or not isinstance(value, tuple):
        return json.dumps(value)
    return "[\n" + ",\n".join(f"  {json.dumps(entry)}" for entry in value) + "\n ]"


def main(arguments: list[str]) -> int:
    """Read and write; 1 where there is no engine."""
    engine = read_engine(Path(arguments[0]) if arguments else None)
    if engine.version is None:
        print(f"no engine: {engine.unknown}", file=sys.stderr)
        return 1
    path = FOLDER / f"engine-{engine.version}.json"
    path.write_text(snapshot(engine), encoding="utf-8")
    print(path.name)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
