"""How each client is pointed at the fake model and at the probe server: its command, its environment and its files."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

_PROMPT = "Use the tools."
_MODEL = "lab-model"
# A model that Codex knows; it gives other models less room.
_KNOWN_BY_CODEX = "gpt-5.5"
_WINDOW = 1_000_000
PROBE_TOOLS = (
    "plain",
    "declared",
    "structured",
    "structured_twice",
    "structured_declared",
    "error",
    "two_blocks",
    "always",
    "described",
    "described_less",
    "slow",
)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a client runs: its home folder, the npm packages, the model, and the server's command with its tools."""

    home: Path
    packages: Path
    model: str
    command: list[str]
    tools: Sequence[str] = PROBE_TOOLS

    @classmethod
    def nowhere(cls) -> "Place":
        """Return a place for looking at what does not depend on it."""
        return cls(Path("/"), Path("/"), "", [""])

    @property
    def work(self) -> Path:
        """The folder that the client is started in."""
        return self.home / "work"

    def bin(self, name: str) -> str:
        """Return the path of an installed command."""
        return str(self.packages / "node_modules" / ".bin" / name)

    def server(self, **more: object) -> dict[str, object]:
        """Return the server in the layout that most clients use."""
        return {"command": self.command[0], "args": self.command[1:], **more}


@dataclass(frozen=True, slots=True)
class Launch:
    """A command with its environment, and files that are written first, relative to the home folder."""

    command: list[str]
    environment: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    # The prefix and the namespace of tools that the client loads on demand.
    deferred: tuple[str, str] = ("", "")
    # The call that loads them, if the client treats calls of other tools differently.
    loading: tuple[str, Mapping[str, object]] | None = None
    # The call that shows the description of a tool which is loaded on demand.
    lookup: tuple[str, Mapping[str, object]] | None = None
    # The tool of the probe whose long description is looked at.
    described: str = "described"
    # Whether its first question does not wait for servers that are still starting.
    asks_at_once: bool = False


def claude(place: Place) -> Launch:
    """Claude Code."""
    config = place.home / "mcp.json"
    tools = [f"mcp__keyhole__{name}" for name in place.tools]
    servers = ["--mcp-config", str(config), "--strict-mcp-config"]
    return Launch(
        [place.bin("claude"), "-p", _PROMPT, *servers, "--allowedTools", ",".join(tools)],
        {
            "ANTHROPIC_BASE_URL": place.model,
            "ANTHROPIC_API_KEY": "dummy",
            "CLAUDE_CONFIG_DIR": str(place.home / ".claude"),
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_TELEMETRY": "1",
            "IS_SANDBOX": "1",
        },
        {"mcp.json": json.dumps({"mcpServers": {"keyhole": place.server(type="stdio")}})},
        ("mcp__keyhole__", ""),
        ("ToolSearch", {"query": "select:" + ",".join(tools), "max_results": 20}),
    )


def codex(place: Place, model: str = _KNOWN_BY_CODEX) -> Launch:
    """Codex with a model that it knows."""
    config = f"""
model = "{model}"
model_provider = "lab"
[model_providers.lab]
name = "lab"
base_url = "{place.model}/v1"
env_key = "LAB_KEY"
wire_api = "responses"
[mcp_servers.keyhole]
command = {json.dumps(place.command[0])}
args = {json.dumps(place.command[1:])}
default_tools_approval_mode = "approve"
"""
    return Launch(
        [place.bin("codex"), "exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", _PROMPT],
        {"CODEX_HOME": str(place.home / ".codex"), "LAB_KEY": "dummy"},
        {".codex/config.toml": config},
        ("", "mcp__keyhole"),
        lookup=("tool_search", {"query": "described", "limit": 20}),
        asks_at_once=True,
    )


def codex_unknown(place: Place) -> Launch:
    """Codex with a model that it does not know, which gets the list of all tools."""
    return replace(codex(place, _MODEL), lookup=None)


def copilot(place: Place) -> Launch:
    """Copilot CLI."""
    config = place.home / "mcp.json"
    return Launch(
        [place.bin("copilot"), "-p", _PROMPT, "--allow-all-tools", "--additional-mcp-config", f"@{config}"],
        {
            "COPILOT_OFFLINE": "true",
            "COPILOT_PROVIDER_BASE_URL": f"{place.model}/v1",
            "COPILOT_PROVIDER_API_KEY": "dummy",
            "COPILOT_PROVIDER_WIRE_API": "completions",
            "COPILOT_MODEL": _MODEL,
        },
        {"mcp.json": json.dumps({"mcpServers": {"keyhole": place.server(type="local", tools=["*"])}})},
    )


def gemini(place: Place) -> Launch:
    """Gemini CLI."""
    settings = {
        "mcpServers": {"keyhole": place.server(trust=True)},
        "security": {"auth": {"selectedType": "gemini-api-key"}},
    }
    return Launch(
        [place.bin("gemini"), "--yolo", "--model", "gemini-2.5-pro", "-p", _PROMPT],
        {
            "GEMINI_API_KEY": "dummy",
            "GOOGLE_GEMINI_BASE_URL": place.model,
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
            "NO_BROWSER": "1",
        },
        {".gemini/settings.json": json.dumps(settings)},
    )


def opencode(place: Place) -> Launch:
    """Opencode."""
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "lab",
        "options": {"baseURL": f"{place.model}/v1", "apiKey": "dummy"},
        "models": {_MODEL: {"name": _MODEL, "tool_call": True, "limit": {"context": _WINDOW, "output": 8_000}}},
    }
    config = {
        "provider": {"lab": provider},
        "model": f"lab/{_MODEL}",
        "small_model": f"lab/{_MODEL}",
        "permission": "allow",
        "mcp": {"keyhole": {"type": "local", "command": place.command, "enabled": True}},
    }
    return Launch(
        [place.bin("opencode"), "run", _PROMPT],
        {
            "OPENCODE_CONFIG_CONTENT": json.dumps(config),
            "OPENCODE_DISABLE_MODELS_FETCH": "1",
            "OPENCODE_DISABLE_AUTOUPDATE": "1",
        },
    )


def qwen(place: Place) -> Launch:
    """Qwen Code."""
    settings = {"mcpServers": {"keyhole": place.server(trust=True)}, "security": {"auth": {"selectedType": "openai"}}}
    return Launch(
        [place.bin("qwen"), "--yolo", "-p", _PROMPT],
        {"OPENAI_API_KEY": "dummy", "OPENAI_BASE_URL": f"{place.model}/v1", "OPENAI_MODEL": _MODEL, "NO_BROWSER": "1"},
        {".qwen/settings.json": json.dumps(settings)},
        ("mcp__keyhole__", ""),
        lookup=("tool_search", {"query": "select:mcp__keyhole__described_less"}),
        described="described_less",
    )


ADAPTERS: Mapping[str, Callable[[Place], Launch]] = {
    "claude": claude,
    "codex": codex,
    "codex-unknown": codex_unknown,
    "copilot": copilot,
    "gemini": gemini,
    "opencode": opencode,
    "qwen": qwen,
}

# Calls in one run. Gemini CLI asks a model whether it is in a loop after 30 turns, and waits long for a useful answer.
CALLS_PER_RUN = {"gemini": 20, "opencode": 25}
