"""Generates the tool reference in docs/mcp.md from the table that agents read.

python -m keyhole.mcp_server.tool_docs
"""

from pathlib import Path

from keyhole.mcp_server.tool_texts import TOOLS

_MARK = "## Tools\n"


def tools_text() -> str:
    """Return the reference as Markdown."""
    return _MARK + "".join(f"\n{_section(name)}" for name in TOOLS)


def _section(name: str) -> str:
    tool = TOOLS[name]
    rows = [f"| `{parameter}` | {text} |" for parameter, text in tool.parameters.items()]
    lines = [f"### {name}", "", tool.description, "", "| parameter | meaning |", "|---|---|", *rows]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Replace the reference in docs/mcp.md."""
    page = Path(__file__).resolve().parent.parent / "docs" / "mcp.md"
    page.write_text(page.read_text().partition(_MARK)[0] + tools_text())


if __name__ == "__main__":
    main()
