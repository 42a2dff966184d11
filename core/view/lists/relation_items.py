"""Links, linked files and nodes of the tree, each as a line of text and as JSON facts."""

from dataclasses import asdict

from keyhole.core.links.link_types import Link
from keyhole.core.search.link_search import LinkedFile
from keyhole.core.search.tree import TreeNode
from keyhole.core.syntax.languages import BY_ID
from keyhole.core.types.choices import Detail
from keyhole.core.view.text import count_of, name_text

LOCATION = "location"
# Each is one line; the last level is so short that it fits any budget.
LEVELS = (str(Detail.MINIMAL), LOCATION)
_LONGEST_PATH_ALONE = 100
_LONGEST_TARGET = 120


def outgoing_text(link: Link, level: str) -> str:
    """Return a link seen from its file: its line, its text and its target."""
    if level == LOCATION:
        return f"{link.line}: {name_text(link.written, _LONGEST_PATH_ALONE)}\n"
    return f"{link.line}: {_written(link)}{_place(link)}\n"


def incoming_text(link: Link, level: str) -> str:
    """Return a link seen from its target: its place and its text."""
    if level == LOCATION:
        return f"{name_text(link.path, _LONGEST_PATH_ALONE)}:{link.line}\n"
    broken = f" ✗ {link.reason}" if link.is_broken else ""
    return f"{name_text(link.path)}:{link.line}: {_written(link)}{broken}\n"


def link_facts(link: Link, level: str) -> dict[str, object]:
    """Return a link as JSON facts."""
    if level == LOCATION:
        return {"file_path": name_text(link.path, _LONGEST_PATH_ALONE), "line": link.line}
    facts: dict[str, object] = {
        "file_path": name_text(link.path),
        "line": link.line,
        "kind": link.kind,
        "target": name_text(link.written, _LONGEST_TARGET),
        "state": link.state,
    }
    optional = {"to": link.to if link.state == "internal" else "", "reason": link.reason, "site": link.site}
    line = {"to_line": link.to_line} if link.to_line else {}
    return facts | {key: name_text(value, _LONGEST_TARGET) for key, value in optional.items() if value} | line


def linked_file_text(file: LinkedFile, level: str) -> str:
    """Return a file and how many of its links match."""
    if level == LOCATION:
        return f"{name_text(file.path, _LONGEST_PATH_ALONE)}\n"
    return f"{name_text(file.path)} ({count_of(file.links, 'link')})\n"


def linked_file_facts(file: LinkedFile, level: str) -> dict[str, object]:
    """Return the same as JSON facts."""
    if level == LOCATION:
        return {"file_path": name_text(file.path, _LONGEST_PATH_ALONE)}
    return {"file_path": name_text(file.path), "language": file.language, "links": file.links}


def node_text(node: TreeNode, level: str, *, is_nested: bool) -> str:
    """Return a folder, file or symbol, indented by its depth."""
    indent = "  " * min(node.depth - 1, 20) if is_nested else ""
    if level == LOCATION:
        return f"{indent}{name_text(node.name, _LONGEST_PATH_ALONE)}\n"
    if node.kind == "folder":
        return f"{indent}{name_text(node.path or '.')}/ ({', '.join([count_of(node.size, 'file'), *_costs(node)])})\n"
    if node.kind == "file":
        known = [BY_ID[node.language].label, count_of(node.size, "line"), *([node.changed] if node.changed else [])]
        known += _costs(node)
        return f"{indent}{name_text(node.path)} ({', '.join(known)})\n"
    label = name_text(node.signature, _LONGEST_TARGET) or name_text(node.name)
    return f"{indent}{label}: [{node.start_line}-{node.end_line}]\n"


def node_facts(node: TreeNode, level: str) -> dict[str, object]:
    """Return the same as JSON facts."""
    if level == LOCATION:
        return {"kind": node.kind, "name": name_text(node.name, _LONGEST_PATH_ALONE), "depth": node.depth}
    facts = {**asdict(node), "path": name_text(node.path), "name": name_text(node.name)}
    cost = facts.pop("cost")
    facts |= {"read_tokens": cost["read"], "map_tokens": cost["map"]} if cost else {}
    size, kind = facts.pop("size"), node.kind
    if not node.changed:
        del facts["changed"]
    if kind in ("folder", "file"):
        facts["files" if kind == "folder" else "lines"] = size
        unused = ["start_line", "end_line", "signature", *(["language"] if kind == "folder" else [])]
        return {key: value for key, value in facts.items() if key not in unused}
    return {**facts, "signature": name_text(node.signature, _LONGEST_TARGET)}


def _costs(node: TreeNode) -> list[str]:
    return [f"read {count_of(node.cost.read, 'token')}", f"map {node.cost.map:,}"] if node.cost else []


def _written(link: Link) -> str:
    kind = "import " if link.kind == "import" else ""
    return f"{kind}{name_text(link.written, _LONGEST_TARGET)}"


def _place(link: Link) -> str:
    if link.state == "external":
        return f" ({name_text(link.site)})" if link.site != link.target else ""
    if link.state == "internal":
        line = f":{link.to_line}" if link.to_line else ""
        return f" → {name_text(link.to)}{line}" + (f" ✗ {link.reason}" if link.reason else "")
    return f" ✗ {link.reason}" if link.is_broken else f" ? {link.reason}"
