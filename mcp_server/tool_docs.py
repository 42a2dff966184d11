"""Generates the tool reference in docs/mcp.md from what agents get, with explanations for people.

python -m keyhole.mcp_server.tool_docs
"""

import json
from collections.abc import Mapping
from pathlib import Path

from keyhole.core.references.reference import ROLE_WORDS
from keyhole.core.tool_definitions import ToolDefinition, list_cost
from keyhole.core.types.choices import Role, ToolSet
from keyhole.core.view.budget.tokens import estimate_tokens
from keyhole.mcp_server.definitions import definitions
from keyhole.mcp_server.tool_texts import LIST_BUDGETS, TOOLS

_MARK = "## Tools\n"
_INTRODUCTION = """
Clients send the list of tools to their models in every conversation, so it is short: all tools cost {all:,} tokens
(at most {all_budget:,}), and the core tools, which `keyhole mcp --tools core` or the setting `mcp.tools` selects, cost
{core:,} (at most {core_budget:,}). Tokens are [estimated](tokens.md) on the JSON that is sent, with everything in it.

{table}

These parameters are the same in every tool that has them:

{repeated}
A number over its maximum is lowered, and a note in the answer says so; it is not rejected.
"""
# Agents don't get these: the names of the parameters and the answers tell them enough.
_REPEATED = {
    "limit": "results per page",
    "offset": "results to skip; the first line of an answer gives the next offset",
    "cursor": "the cursor of a JSON answer to the same request; continues there",
    "max_tokens": "token budget, at least 1,000; [the default](#running-the-server) depends on the client",
    "format": "text (default), or JSON with the same facts",
    "detail_level": "minimal for an overview; compact adds purpose, best line and key methods; rich adds the "
    "source; auto shows the best three rich and the rest minimal",
}
_LINE_NUMBERS = "number each line of source, or put the source into a fence"
_EXPLAINED = {
    "search_code": {
        "mode": "auto picks a mode from the query",
        "language": "only files in this language, such as python or py",
        "kind": "only chunks that define this kind, such as class or function",
        "role": f"only files with one of these [roles](#roles-of-files), separated by commas: {', '.join(Role)}; "
        "`-test` leaves a role out",
        "include_tests": "include test files and their data",
        "context_lines": "lines around each match of a regular expression",
        "output": "for a regular expression: lines, files with counts, or counts by folder",
        "line_numbers": _LINE_NUMBERS,
    },
    "map_file": {
        "path": "file, relative to the workspace",
        "level": "auto picks the fullest level that fits",
        "symbol": "a type with all its parts in the file (Client), or one symbol (Client.send, or its first line)",
        "symbols_each": "symbols to show at each end of a truncated map",
        "offset": "symbols to skip in a truncated map",
    },
    "read_file": {
        "path": "file, relative to the workspace",
        "paths": "several files, which share the budget",
        "start_line": "first line to show",
        "start_column": "first column of that line, if it is very long",
        "max_lines": "lines per file",
        "line_numbers": _LINE_NUMBERS,
    },
    "find_references": {
        "symbol": "the definition by its name, such as parse or QuerySet.filter",
        "path": "file or folder of the definition; with line, the file of that line",
        "line": "instead of symbol: the definition at or around this line of path",
        "relation": "references (default), callers, callees, or hierarchy: classes above and below, overridden methods",
        "role": "only this role: " + ", ".join(sorted(set(ROLE_WORDS.values()))),
        "certainty": "only this [level](references.md): certain, likely or by name",
        "within": "only references in this folder, or in files that match this glob",
        "include_tests": "include references in tests",
        "depth": "steps to follow callers, callees and classes",
    },
    "get_tree": {
        "path": "folder or file, relative to the workspace",
        "symbol": "start at a symbol in the file: its name, dotted name or first line",
        "relation": "parents are listed nearest first, descendants indented by depth",
        "max_depth": "levels of descendants; symbols count as levels below their file",
        "symbols": "include the symbols of files among the descendants of a folder",
        "pattern": "list the files at any depth that match this glob instead, such as **/*_test.go",
        "sort": "files by path, or by their last change, newest first",
    },
    "get_links": {
        "path": "file, relative to the workspace",
        "category": "page through one list; ✗ marks a broken link and ? an uncertain one, with the reason",
    },
    "get_backlinks": {"path": "file or folder, relative to the workspace"},
    "search_by_links": {
        "has_links_to": "only files that link to this file or folder",
        "linked_from": "only files that this file links to",
        "external_domains": "only files that link to one of these domains or packages, such as github.com or numpy",
        "broken": "only files with broken links",
    },
    "find_broken_links": {"reason": "only links that are broken for this reason"},
    "find_related": {
        "path": "file with the reference code",
        "line": "line of the reference code",
        "symbol": "symbol to use as the reference code, in path or in any file",
        "line_numbers": _LINE_NUMBERS,
    },
}


def tools_text() -> str:
    """Return the reference as Markdown."""
    tools = definitions()
    return _MARK + _introduction(tools) + "".join(f"\n{_section(tool)}" for tool in tools)


def _introduction(tools: list[ToolDefinition]) -> str:
    core = [tool for tool in tools if TOOLS[tool.name].is_core]
    rows = [f"| `{tool.name}` | {_tokens(tool)} | {'yes' if tool in core else ''} |" for tool in tools]
    return _INTRODUCTION.format(
        all=list_cost(tools),
        all_budget=LIST_BUDGETS[ToolSet.ALL],
        core=list_cost(definitions(ToolSet.CORE)),
        core_budget=LIST_BUDGETS[ToolSet.CORE],
        table="\n".join(["| tool | tokens | core |", "|---|---:|---|", *rows]),
        repeated="".join(f"- `{name}`: {meaning}\n" for name, meaning in _REPEATED.items()),
    )


def _section(tool: ToolDefinition) -> str:
    schema = json.loads(tool.schema)
    rows = [
        f"| `{name}` | {_values(facts, is_required=name in schema.get('required', ()))} | {_meaning(tool.name, name)} |"
        for name, facts in schema["properties"].items()
    ]
    lines = [f"### {tool.name}", "", tool.description, "", "| parameter | values | meaning |", "|---|---|---|", *rows]
    return "\n".join(lines) + "\n"


def _tokens(tool: ToolDefinition) -> int:
    return estimate_tokens(tool.sent)


def _values(facts: Mapping[str, object], *, is_required: bool) -> str:
    """Return which values a parameter takes."""
    choices, kind = facts.get("enum"), str(facts["type"])
    words = [", ".join(choices) if isinstance(choices, list) else "" if kind == "string" else kind]
    words += [f"at most {facts['maximum']:,}"] if "maximum" in facts else []
    words += [f"default {json.dumps(facts['default'])}".replace('"', "")] if "default" in facts else []
    return "; ".join(word for word in [*words, "required" if is_required else ""] if word)


def _meaning(tool: str, name: str) -> str:
    """Return the explanation of a parameter, or else the text that agents get; empty for a repeated one."""
    return _EXPLAINED.get(tool, {}).get(name) or TOOLS[tool].parameters[name]


def unexplained() -> list[str]:
    """Return the parameters that the reference does not explain."""
    return [
        f"{tool}.{name}"
        for tool, text in TOOLS.items()
        for name in text.parameters
        if not _meaning(tool, name) and name not in _REPEATED
    ]


def main() -> None:
    """Replace the reference in docs/mcp.md."""
    page = Path(__file__).resolve().parent.parent / "docs" / "mcp.md"
    page.write_text(page.read_text().partition(_MARK)[0] + tools_text())


if __name__ == "__main__":
    main()
