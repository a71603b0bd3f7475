"""Write the page of every rule, docs/rules/DDnnn.md, and their index from the classes under checks/.

python ci/rule_docs.py           write what differs
python ci/rule_docs.py --check   write nothing; exit status 1 if a page is missing, stale or of no rule
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from ddtree_doctor.checks import rules
from ddtree_doctor.rule import Check

FOLDER = Path(__file__).parents[1] / "docs" / "rules"
GROUPS = {
    "DD0": "Host",
    "DD1": "Configuration",
    "DD2": "Shape",
    "DD3": "Behaviour on the CPU",
    "DD4": "Behaviour on the GPU",
    "DD5": "Source of a fork",
    "DD6": "Agreement between ranks",
}


def pages() -> dict[str, str]:
    """File name → text, for every rule and the index."""
    return {f"{rule.code}.md": page(rule) for rule in rules()} | {"README.md": index()}


def page(rule: type[Check]) -> str:
    """The page of one rule."""
    needed = "a launch is not ready while this is unknown" if rule.required else "unknown here holds no launch up"
    lines = [
        f"# {rule.code} {rule.slug()}",
        "",
        rule.title(),
        "",
        "| | |",
        "|---|---|",
        f"| severity | {rule.severity}{': blocks a launch' if rule.severity == 'error' else ''} |",
        f"| confidence | {rule.confidence} |",
        f"| tier | {rule.tier} |",
        f"| required | {'yes' if rule.required else 'no'}: {needed} |",
        *(["| refuses | the engine does not start: deeper tiers are not run |"] if rule.refuses else []),
        f"| since | {rule.since} |",
        "",
        "## Why it is bad",
        "",
        rule.why,
        "",
        "## What to change",
        "",
        *(f"- {fix}" for fix in rule.fix),
        "",
        "## What it compares",
        "",
        " ".join((rule.judge.__doc__ or "").split()),
        "",
        "## Sources",
        "",
        *(f"- <{url}>" for url in rule.references),
        "",
        f"To leave this rule out: `doctor check --ignore {rule.code} LAUNCH`.",
        "",
    ]
    return "\n".join(lines)


def index() -> str:
    """The table of all rules, by group."""
    lines = ["# Rules", "", "Codes are stable and never used again. `doctor explain CODE` prints the same text.", ""]
    for prefix, group in GROUPS.items():
        members = [rule for rule in rules() if rule.code.startswith(prefix)]
        if members:
            lines += [
                f"## {prefix}xx {group}",
                "",
                "| code | name | severity | tier | finds |",
                "|---|---|---|---|---|",
            ]
            lines += [_row(rule) for rule in members] + [""]
    return "\n".join(lines)


def _row(rule: type[Check]) -> str:
    return f"| [{rule.code}]({rule.code}.md) | {rule.slug()} | {rule.severity} | {rule.tier} | {rule.title()} |"


def stale(folder: Path = FOLDER) -> list[str]:
    """Names of pages under `folder` that are missing, differ, or belong to no rule."""
    wanted = pages()
    found = {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.md")}
    return sorted(name for name in wanted.keys() | found.keys() if wanted.get(name) != found.get(name))


def write(folder: Path = FOLDER) -> list[str]:
    """Write every stale page and delete pages of no rule; the names that changed."""
    wanted, changed = pages(), stale(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for name in changed:
        if name in wanted:
            (folder / name).write_text(wanted[name], encoding="utf-8")
        else:
            (folder / name).unlink()
    return changed


def main(arguments: list[str] | None = None) -> int:
    """Write or check; 1 where --check finds a stale page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing")
    options = parser.parse_args(arguments)
    changed = stale() if options.check else write()
    for name in changed:
        print(f"docs/rules/{name}: {'stale' if options.check else 'written'}")
    return 1 if options.check and changed else 0


if __name__ == "__main__":
    sys.exit(main())
