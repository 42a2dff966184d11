"""A name for a wrapped server, from the command that starts it or from its address."""

import re
from collections.abc import Sequence
from urllib.parse import urlsplit

# Programs that start others; the server is what they are given.
_RUNNERS = {
    "npx",
    "uvx",
    "uv",
    "bunx",
    "bun",
    "pipx",
    "node",
    "deno",
    "docker",
    "podman",
    "env",
    "sh",
    "bash",
    "npm",
    "pnpm",
}
_VERBS = {"run", "exec", "tool", "dlx", "x", "start"}
_PYTHON = re.compile(r"(python|pypy)[\d.]*w?")
_VERSION = re.compile(r"(?<=.)@[^/@]*$|==.*$")
_VARIABLE = re.compile(r"[A-Z_][A-Z0-9_]*=(?!=)")
_SCRIPT = re.compile(r"\.(py|m?js|cjs|ts|sh|exe|cmd|jar)$")
_INDEX_FILES = {"index", "main", "cli", "server", "dist", "build", "bin", "src", "__main__"}
_LONGEST = 40
NAMELESS = "server"


def server_name(target: Sequence[str]) -> str:
    """Return a name for a command or an address: the package, module, script or host."""
    if len(target) == 1 and target[0].startswith(("http://", "https://")):
        return _cleaned(urlsplit(target[0]).hostname or "")
    for part in target:
        name = part.replace("\\", "/").rstrip("/").rpartition("/")[2]
        is_runner = name.casefold() in _RUNNERS | _VERBS or _PYTHON.fullmatch(name)
        if part.startswith("-") or is_runner or _VARIABLE.match(part):
            continue
        return _cleaned(_last_telling(part))
    return _cleaned((target[0] if target else "").rpartition("/")[2])


def _last_telling(part: str) -> str:
    """Return the last part of a path that says which server it is: not `dist/index.js`."""
    pieces = [_SCRIPT.sub("", piece) for piece in _VERSION.sub("", part.replace("\\", "/")).split("/") if piece]
    telling = [piece for piece in pieces if piece not in _INDEX_FILES]
    return (telling or pieces or [""])[-1]


def _cleaned(name: str) -> str:
    return re.sub(r"[^\w.-]+", "-", name).strip("-.")[:_LONGEST] or NAMELESS
