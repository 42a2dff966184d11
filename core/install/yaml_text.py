"""Editing one entry of a YAML file as text, so that comments, order and layout of the rest do not change.

PyYAML tells where each value is, and the lines of the entry are replaced. Only what can be told from lines is edited:
mappings in block style. Everything else raises ValueError.
"""

import re
from collections.abc import Iterator

import yaml

_OPENING = (
    yaml.FlowSequenceStartToken,
    yaml.FlowMappingStartToken,
    yaml.BlockSequenceStartToken,
    yaml.BlockMappingStartToken,
)
_CLOSING = (yaml.FlowSequenceEndToken, yaml.FlowMappingEndToken, yaml.BlockEndToken)
_DEEPEST = 100
_LONE_NEWLINE = re.compile(r"(?<!\r)\n")


def parse(text: str) -> dict[str, object]:
    """Parse a text; an empty text is an empty mapping."""
    try:
        _check_tokens(text)
        facts = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ValueError(" ".join(str(error).split())) from None
    if facts is None:
        return {}
    if not isinstance(facts, dict):
        raise ValueError("not a mapping")  # a ValueError: the file is wrong, not the type of an argument
    return facts


def _check_tokens(text: str) -> None:
    """Raise ValueError for what would make an edit unsafe, or PyYAML slow."""
    depth = 0
    for token in yaml.scan(text):
        # Aliases can make a small file huge, and an edit at one place would change others.
        if isinstance(token, yaml.AliasToken):
            raise ValueError("it has aliases")
        depth += isinstance(token, _OPENING) - isinstance(token, _CLOSING)
        if depth > _DEEPEST:
            raise ValueError("nested too deeply")


def set_entry(text: str, section: str, name: str, entry: dict[str, object]) -> str:
    """Return the text with an entry added to a section; other keys of an existing entry are kept."""
    facts = parse(text)
    servers = facts.get(section)
    if servers is None or servers == {}:
        return _with_section(text, section, name, entry)
    if not isinstance(servers, dict):
        raise ValueError(f"{section} is not a mapping")
    key, value = _member(_root(text), section)
    lines = text.splitlines(keepends=True)
    column = _block(value).value[0][0].start_mark.column
    if name not in servers:
        # Directly after the section's own line, so that comments stay with the entries that follow them.
        at = key.start_mark.line + 1
        return _joined(text, lines[:at], _written(name, entry, column), lines[at:])
    old = servers[name]
    merged = (old if isinstance(old, dict) else {}) | entry
    if merged == old:
        return text
    start, end = _lines_of(lines, *_member(value, name))
    return _joined(text, lines[:start], _written(name, merged, column), lines[end:])


def remove_entry(text: str, section: str, name: str) -> str:
    """Return the text without an entry, and without the section if nothing else is in it."""
    servers = parse(text).get(section)
    if not isinstance(servers, dict) or name not in servers:
        return text
    key, value = _member(_root(text), section)
    is_last = len(servers) == 1
    lines = text.splitlines(keepends=True)
    start, end = _lines_of(lines, *((key, value) if is_last else _member(_block(value), name)))
    return "".join(lines[:start] + lines[end:])


def _with_section(text: str, section: str, name: str, entry: dict[str, object]) -> str:
    """Return the text with a section that did not exist or was empty."""
    lines = text.splitlines(keepends=True)
    new = _written(section, {name: entry}, 0)
    if section in parse(text):
        start, end = _lines_of(lines, *_member(_root(text), section))
        return _joined(text, lines[:start], new, lines[end:])
    if re.search(r"^\.\.\.", text, re.MULTILINE):
        raise ValueError("it has a mark where a document ends")
    if parse(text):
        _root(text)
    gap = ["\n"] if lines and not lines[-1].endswith("\n") else []
    return _joined(text, lines + gap, new, [])


def _root(text: str) -> yaml.MappingNode:
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    if root.start_mark.column != 0:
        raise ValueError("its first line is indented")
    return _block(root)


def _block(node: yaml.Node) -> yaml.MappingNode:
    if not isinstance(node, yaml.MappingNode) or node.flow_style:
        raise ValueError("a part of it is not written one key per line")
    return node


def _member(node: yaml.Node, name: str) -> tuple[yaml.Node, yaml.Node]:
    """Return the nodes of a key and its value."""
    found = [(key, value) for key, value in _block(node).value if key.value == name]
    if len(found) != 1:
        raise ValueError(f"{name} is there {len(found)} times")
    return found[0]


def _lines_of(lines: list[str], key: yaml.Node, value: yaml.Node) -> tuple[int, int]:
    """Return the lines of a key and its value, as first and the one after the last."""
    nodes = [key, *_parts(value)]
    start, end = key.start_mark.line, max(node.end_mark.line for node in nodes) + 1
    rest = list("".join(lines[start:end]))
    offset = sum(len(line) for line in lines[:start])
    for node in nodes:
        if isinstance(node, yaml.ScalarNode):
            length = node.end_mark.index - node.start_mark.index
            first = node.start_mark.index - offset
            rest[first : first + length] = " " * length
    if "#" in rest:
        raise ValueError(f"{key.value} has comments, which would be lost")
    return start, end


def _parts(node: yaml.Node) -> Iterator[yaml.Node]:
    """Yield the parts whose end is known exactly: scalars, and lists and mappings in brackets."""
    if isinstance(node, yaml.ScalarNode):
        if node.style in ("|", ">"):
            raise ValueError("it has texts of several lines")
        yield node
        return
    if node.flow_style:
        yield node
    for child in node.value:
        for part in child if isinstance(child, tuple) else (child,):
            yield from _parts(part)


def _written(name: str, value: dict[str, object], column: int) -> list[str]:
    written = yaml.safe_dump({name: value}, sort_keys=False, allow_unicode=True, width=10_000)
    return [f"{' ' * column}{line}" for line in written.splitlines(keepends=True)]


def _joined(text: str, before: list[str], new: list[str], after: list[str]) -> str:
    """Return the lines as a text with the line ends of the old one."""
    joined = "".join(before + new + after)
    return _LONE_NEWLINE.sub("\r\n", joined) if "\r\n" in text and not _LONE_NEWLINE.search(text) else joined
