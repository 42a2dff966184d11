"""Real servers from npm and PyPI in fixed versions, and what to ask each of them."""

import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).parent
DATA = HERE.parent / ".data" / "wrap"
_MCP = "@modelcontextprotocol"
NPM = (
    f"{_MCP}/server-everything@2026.8.31",
    f"{_MCP}/server-filesystem@2026.8.31",
    f"{_MCP}/server-memory@2026.8.31",
    f"{_MCP}/server-sequential-thinking@2026.8.31",
    f"{_MCP}/inspector@2.12.0",
    "@playwright/mcp@0.0.83",
)
PYPI = ("mcp-server-git==2026.10.19", "mcp-server-time==2026.10.19")
BIN, VENV = DATA / "node_modules" / ".bin", DATA / "venv" / "bin"

Call = tuple[str, dict[str, object]]


@dataclass(frozen=True, slots=True)
class RealServer:
    """A server: its command, with WORK for a folder of files, and calls of its tools that can be repeated."""

    command: tuple[str, ...]
    calls: tuple[Call, ...]
    methods: tuple[Call, ...] = ()
    environment: dict[str, str] = field(default_factory=dict)


SERVERS = {
    "everything": RealServer(
        (str(BIN / "mcp-server-everything"),),
        (
            ("echo", {"message": "grüße " * 50}),
            ("get-sum", {"a": 2, "b": 3}),
            ("get-tiny-image", {}),
            ("no-such-tool", {}),
        ),
        (
            ("resources/list", {}),
            ("prompts/list", {}),
            ("completion/complete", {"ref": {"type": "ref/x"}}),
            ("un/known", {}),
        ),
    ),
    "filesystem": RealServer(
        (str(BIN / "mcp-server-filesystem"), "WORK"),
        (
            ("read_text_file", {"path": "WORK/long.txt"}),
            ("list_directory", {"path": "WORK"}),
            ("write_file", {"path": "WORK/new.txt", "content": "x\n" * 100}),
            ("read_text_file", {"path": "/etc/hostname"}),
        ),
    ),
    "memory": RealServer(
        (str(BIN / "mcp-server-memory"),),
        (
            ("create_entities", {"entities": [{"name": "a", "entityType": "t", "observations": ["one"]}]}),
            ("search_nodes", {"query": "a"}),
            ("read_graph", {}),
        ),
        environment={"MEMORY_FILE_PATH": "WORK/memory.json"},
    ),
    "sequential-thinking": RealServer(
        (str(BIN / "mcp-server-sequential-thinking"),),
        (
            (
                "sequentialthinking",
                {"thought": "a thought", "nextThoughtNeeded": True, "thoughtNumber": 1, "totalThoughts": 3},
            ),
        ),
        environment={"DISABLE_THOUGHT_LOGGING": "true"},
    ),
    "git": RealServer(
        (str(VENV / "mcp-server-git"), "--repository", "WORK"),
        (
            ("git_status", {"repo_path": "WORK"}),
            ("git_log", {"repo_path": "WORK"}),
            ("git_diff", {"repo_path": "WORK"}),
        ),
    ),
    "time": RealServer(
        (str(VENV / "mcp-server-time"), "--local-timezone", "UTC"),
        (("get_current_time", {"timezone": "Europe/Berlin"}), ("get_current_time", {"timezone": "Nowhere"})),
    ),
    "playwright": RealServer(
        (
            str(BIN / "playwright-mcp"),
            "--headless",
            "--no-sandbox",
            "--isolated",
            "--executable-path",
            shutil.which("chromium") or "chromium",
        ),
        (("browser_tabs", {"action": "list"}), ("browser_snapshot", {})),
    ),
    "fastmcp": RealServer(
        (sys.executable, str(HERE / "every_feature.py")),
        (
            ("add", {"one": 1, "other": 2}),
            ("long_text", {"size": 60_000}),
            ("picture", {}),
            ("fail", {}),
            ("slow", {"steps": 5}),
            ("add", {"wrong": 1}),
        ),
        (
            ("resources/list", {}),
            ("resources/templates/list", {}),
            ("resources/read", {"uri": "note://one"}),
            ("prompts/get", {"name": "review", "arguments": {"code": "x = 1"}}),
            ("un/known", {"a": [1, 2.5, None]}),
        ),
    ),
}


def install_servers() -> None:
    """Install the servers into bench/.data, once for each choice of versions."""
    mark, wanted = DATA / "installed.txt", "\n".join([*NPM, *PYPI])
    if mark.exists() and mark.read_text() == wanted:
        return
    DATA.mkdir(parents=True, exist_ok=True)
    subprocess.run(["npm", "install", "--silent", "--prefix", str(DATA), *NPM], check=True)
    subprocess.run([sys.executable, "-m", "venv", str(VENV.parent)], check=True)
    subprocess.run([str(VENV / "pip"), "install", "--quiet", *PYPI], check=True)
    mark.write_text(wanted)


def make_workspace(folder: Path) -> None:
    """Make a small repository with a long file, for servers that read files."""
    folder.mkdir(parents=True)
    (folder / "long.txt").write_text("".join(f"line {number}: the quick brown fox\n" for number in range(2_000)))
    who = ["-c", "user.name=A", "-c", "user.email=a@example.com"]
    for arguments in (["init", "-q"], ["add", "."], [*who, "commit", "-qm", "first"]):
        subprocess.run(["git", *arguments], cwd=folder, check=True)
    (folder / "long.txt").write_text("changed\n")


def filled(value: object, work: Path) -> object:
    """Return a value with the folder of files filled in."""
    if isinstance(value, str):
        return value.replace("WORK", str(work))
    if isinstance(value, dict):
        return {key: filled(item, work) for key, item in value.items()}
    return [filled(item, work) for item in value] if isinstance(value, list | tuple) else value
