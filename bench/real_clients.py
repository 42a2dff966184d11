"""The clients that the install test runs: what points each at a model on this machine, and what shows its servers."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class RealClient:
    """A client from npm, in the version that bench/clients/package.json names.

    PORT, HOME and WORK in its texts are filled in.
    `lists` shows its servers, and `shown` is what that prints: their state, if it waits for them to start. `asks` sends
    a prompt to its model. `files` exist before the installation, so that other entries are there to be kept.
    """

    package: str
    lists: tuple[str, ...] = ()
    shown: str = "keyhole"
    asks: tuple[str, ...] = ()
    environment: dict[str, str] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    scopes: tuple[str, ...] = ("user", "project")


CLIENTS = {
    "claude": RealClient(
        package="@anthropic-ai/claude-code",
        lists=("claude", "mcp", "list"),
        shown="Connected",
        asks=("claude", "-p", "hello"),
        environment={
            "ANTHROPIC_BASE_URL": "http://127.0.0.1:PORT",
            "ANTHROPIC_API_KEY": "dummy",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "IS_SANDBOX": "1",
            # Otherwise its first request does not wait for a server that is still starting.
            "MCP_CONNECTION_NONBLOCKING": "0",
            "MCP_CONNECT_TIMEOUT_MS": "60000",
        },
        # Without this, servers of a workspace wait for the user's approval.
        files={".claude/settings.json": '{"enableAllProjectMcpServers": true}\n'},
    ),
    "codex": RealClient(
        package="@openai/codex",
        lists=("codex", "mcp", "list"),
        # Without `required`, the first request does not wait for a server that is still starting.
        asks=("codex", "exec", "--skip-git-repo-check", "-c", "mcp_servers.keyhole.required=true", "hello"),
        environment={"FAKE_KEY": "x"},
        files={
            ".codex/config.toml": """\
# A model on this machine
model = "unknown-model"
model_provider = "local"

[model_providers.local]
name = "local"
base_url = "http://127.0.0.1:PORT/v1"
env_key = "FAKE_KEY"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0

[projects."WORK"]
trust_level = "trusted" # so that its configuration counts
"""
        },
    ),
    "copilot": RealClient(
        package="@github/copilot",
        lists=("copilot", "mcp", "list"),
        asks=("copilot", "-p", "hello", "--allow-all-tools"),
        environment={
            "COPILOT_OFFLINE": "true",
            "COPILOT_PROVIDER_BASE_URL": "http://127.0.0.1:PORT/v1",
            "COPILOT_PROVIDER_API_KEY": "x",
            "COPILOT_PROVIDER_WIRE_API": "completions",
            "COPILOT_MODEL": "gpt-5",
        },
        # Without this, servers of a workspace do not start.
        files={".copilot/config.json": '{"trusted_folders": ["WORK"]}\n'},
    ),
    "gemini": RealClient(
        package="@google/gemini-cli",
        lists=("gemini", "mcp", "list"),
        asks=("gemini", "--yolo", "-p", "hello"),
        environment={
            "GEMINI_API_KEY": "x",
            "GOOGLE_GEMINI_BASE_URL": "http://127.0.0.1:PORT",
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
            "NO_BROWSER": "1",
        },
        files={
            ".gemini/settings.json": """\
{
  // a key is enough
  "security": {"auth": {"selectedType": "gemini-api-key"}}
}
"""
        },
    ),
    "opencode": RealClient(
        package="opencode-ai",
        lists=("opencode", "mcp", "list"),
        shown="connected",
        asks=("opencode", "run", "hello"),
        environment={"OPENCODE_DISABLE_MODELS_FETCH": "1", "OPENCODE_DISABLE_AUTOUPDATE": "1"},
        files={
            ".config/opencode/opencode.jsonc": """\
{
  "$schema": "https://opencode.ai/config.json",
  // a model on this machine
  "model": "local/any",
  "provider": {
    "local": {
      "npm": "@ai-sdk/openai-compatible",
      "options": { "baseURL": "http://127.0.0.1:PORT/v1", "apiKey": "x" },
      "models": { "any": {} },
    },
  },
}
"""
        },
    ),
    "qwen": RealClient(
        package="@qwen-code/qwen-code",
        lists=("qwen", "mcp", "list"),
        asks=("qwen", "--auth-type", "openai", "--yolo", "hello"),
        environment={
            "OPENAI_API_KEY": "x",
            "OPENAI_BASE_URL": "http://127.0.0.1:PORT/v1",
            "OPENAI_MODEL": "any",
        },
    ),
    "amp": RealClient(
        # Its model is only in its own cloud, so nothing can be asked.
        package="@sourcegraph/amp",
        lists=("amp", "mcp", "list"),
        environment={"AMP_API_KEY": "x"},
        files={".config/amp/settings.json": '{\n  "amp.showCosts": true\n}\n'},
    ),
    "cline": RealClient(
        package="cline",
        asks=("cline", "say hello"),
        files={
            ".cline/data/settings/providers.json": """\
{
  "version": 1,
  "lastUsedProvider": "openai-compatible",
  "modes": {},
  "providers": {
    "openai-compatible": {
      "settings": {
        "provider": "openai-compatible",
        "apiKey": "x",
        "model": "any",
        "baseUrl": "http://127.0.0.1:PORT/v1"
      },
      "updatedAt": "2026-11-18T00:00:00.000Z",
      "tokenSource": "manual"
    }
  }
}
"""
        },
        scopes=("user",),
    ),
    "goose": RealClient(
        package="@aaif/goose-binary-linux-x64",
        asks=("goose-binary-linux-x64", "run", "--no-session", "-t", "hello"),
        environment={"OPENAI_API_KEY": "x", "OPENAI_HOST": "http://127.0.0.1:PORT", "GOOSE_DISABLE_KEYRING": "1"},
        files={
            ".config/goose/config.yaml": """\
# A model on this machine
GOOSE_PROVIDER: openai
GOOSE_MODEL: any
extensions:
  # from the start
  developer:
    enabled: true
    type: builtin
    name: developer
    timeout: 300
    bundled: true
"""
        },
    ),
}
