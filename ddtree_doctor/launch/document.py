"""YAML with line numbers, bounded. The only module here that loads yaml, and only when it is used."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ddtree_doctor.launch.words import Piece

if TYPE_CHECKING:
    import yaml

__all__ = ["Malformed", "documents", "mapping", "mapping_lines", "pieces", "sequence", "walk"]

MAX_BYTES = 2 * 1024 * 1024
MAX_DEPTH = 100
MAX_NODES = 200_000
MAX_MERGES = 20

NULL = "tag:yaml.org,2002:null"


class Malformed(Exception):
    """The text is no YAML that can be used; the message says where and why. `line` is 1-based."""

    def __init__(self, why: str, line: int | None = None) -> None:
        super().__init__(why)
        self.line = line


def documents(text: str) -> list[yaml.Node]:
    """The root nodes of a YAML text. Raises Malformed."""
    import yaml

    if len(text) > MAX_BYTES:
        raise Malformed(f"a YAML file has at most {MAX_BYTES} characters, this one {len(text)}")
    loader = _loader()
    try:
        _check_depth(yaml.parse(text, Loader=loader))
        return [node for node in yaml.compose_all(text, Loader=loader) if node]
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else None
        raise Malformed(f"no YAML: {error.problem or 'it cannot be parsed'}", line) from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise Malformed("no YAML: it cannot be parsed") from error


def _loader() -> Any:
    """The parser in C where it is installed: the other takes seconds for what this takes milliseconds."""
    import yaml

    return getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def mapping(node: yaml.Node | None, depth: int = 0) -> dict[str, yaml.Node]:
    """The members of a mapping with `<<` merged in, empty for any other node."""
    import yaml

    members: dict[str, yaml.Node] = {}
    if not isinstance(node, yaml.MappingNode):
        return members
    for key, value in node.value:
        if not isinstance(key, yaml.ScalarNode):
            continue
        if key.value == "<<" and depth < MAX_MERGES:
            for merged in value.value if isinstance(value, yaml.SequenceNode) else [value]:
                members = {**mapping(merged, depth + 1), **members}
        else:
            members[key.value] = value
    return members


def sequence(node: yaml.Node | None) -> list[yaml.Node] | None:
    """The items of a sequence, None for any other node."""
    import yaml

    return list(node.value) if isinstance(node, yaml.SequenceNode) else None


def pieces(node: yaml.Node | None) -> tuple[Piece, ...] | None:
    """A scalar's text, one piece a line, None for null and any other node. Lines are exact in a `|` block."""
    import yaml

    if not isinstance(node, yaml.ScalarNode) or node.tag == NULL:
        return None
    first = node.start_mark.line + 1
    if node.style == "|":
        lines = node.value.splitlines(keepends=True)
        return tuple(Piece(text, first + index, quoted=True) for index, text in enumerate(lines, 1))
    return (Piece(node.value, first + (node.style == ">"), quoted=True),)


def walk(root: yaml.Node) -> Iterator[yaml.MappingNode]:
    """Every mapping below a node once, in the order of the text."""
    import yaml

    seen: set[int] = set()
    stack: list[yaml.Node] = [root]
    while stack:
        node = stack.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, yaml.MappingNode):
            yield node
            stack.extend(value for _, value in reversed(node.value))
        elif isinstance(node, yaml.SequenceNode):
            stack.extend(reversed(node.value))


def mapping_lines(data: bytes) -> list[tuple[str, Any, int]]:
    """(key, value, 1-based line) of each member of the mapping that a YAML text is. Raises Malformed."""
    import yaml

    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise Malformed("it is not UTF-8 text") from error
    roots = documents(text)
    if not roots:
        return []
    if len(roots) > 1 or not isinstance(roots[0], yaml.MappingNode):
        raise Malformed("SGLang needs a mapping of options to values at the top")
    if any(isinstance(token, yaml.AliasEvent) for token in yaml.parse(text, Loader=_loader())):
        raise Malformed("aliases (*name) are not followed")
    constructor = yaml.constructor.SafeConstructor()
    return [(str(key.value), _value(constructor, value), key.start_mark.line + 1) for key, value in roots[0].value]


def _value(constructor: Any, node: yaml.Node) -> Any:
    import yaml

    try:
        return constructor.construct_document(node)
    except (yaml.YAMLError, ValueError, TypeError, OverflowError, RecursionError) as error:
        raise Malformed(f"the value at line {node.start_mark.line + 1} cannot be read") from error


def _check_depth(events: Iterator[Any]) -> None:
    """Raise Malformed before composing what is nested or repeated beyond any launch: composing recurses."""
    import yaml

    depth = 0
    for count, event in enumerate(events):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > MAX_DEPTH or count > MAX_NODES:
            line = event.start_mark.line + 1
            raise Malformed(f"nested more than {MAX_DEPTH} deep or more than {MAX_NODES} values", line)
