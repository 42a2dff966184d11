"""The section in AGENTS.md or CLAUDE.md that tells a model when to use which tool: `keyhole install --instructions`.

Removing it gives exactly the bytes from before, so the text itself shows how it was added: after a text without a line
end, the section has none either; and a file that starts with the section did not exist before.
"""

import re
from pathlib import Path

from keyhole.core.install.config_file import ConfigFile

_BEGIN = "<!-- keyhole:begin (keyhole uninstall removes this section) -->"
_END = "<!-- keyhole:end -->"
# Only tools of the smaller set, so that the section holds for every configuration.
SECTION = f"""\
{_BEGIN}
## Find and read code with keyhole

Prefer the MCP tools of `keyhole` to grep and to reading whole files: answers fit a budget and say what is missing.

- Where something is done, or any name: `search_code` with a name or a few words; "exact text" or /regex/ for all lines.
- What a file defines: `map_file`; then `read_file` with only the lines you need.
- Who uses a symbol, before you change it: `find_references`.
- What a file imports or links to: `get_links`. Folders and files: `get_tree`.
{_END}"""
_ANY_SECTION = re.compile(rf"{re.escape(_BEGIN)}.*?{re.escape(_END)}(?:\r?\n)?", re.DOTALL)


def add_instructions(path: Path, root: Path) -> bool:
    """Add the section to a file of the workspace, or update it; return whether the file changed."""
    file = ConfigFile(path, root)
    new = _with_section(file.text, is_new=not file.exists)
    if new == file.text:
        return False
    # No backup, because removing the section is exact.
    file.replace(new, keeps_backup=False)
    return True


def remove_instructions(path: Path, root: Path) -> bool:
    """Remove the section from a file of the workspace, if it is there; return whether it was."""
    file = ConfigFile(path, root)
    found = _ANY_SECTION.search(file.text)
    if found is None:
        return False
    if found.group() == file.text:
        file.delete()
    else:
        file.replace(_without_section(file.text, found), keeps_backup=False)
    return True


def has_instructions(path: Path, root: Path) -> bool:
    """Return whether a file of the workspace has the section."""
    return _ANY_SECTION.search(ConfigFile(path, root).text) is not None


def _with_section(text: str, *, is_new: bool) -> str:
    found = _ANY_SECTION.search(text)
    newline = _newline_of(found.group() if found else text)
    section = SECTION.replace("\n", newline)
    if found:
        line_end = newline if found.group().endswith("\n") else ""
        return text[: found.start()] + section + line_end + text[found.end() :]
    if is_new:
        return section + newline
    ends_line = not text or text.endswith("\n")
    return f"{text}{newline}{section}{newline}" if ends_line else f"{text}{newline}{newline}{section}"


def _without_section(text: str, found: "re.Match[str]") -> str:
    newline = _newline_of(found.group())
    before, after = text[: found.start()], text[found.end() :]
    # The empty line before the section; and the line end that the text did not have.
    before = before.removesuffix(newline)
    return before + after if found.group().endswith(newline) else before.removesuffix(newline) + after


def _newline_of(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"
