"""The pages docs/cli.md and docs/settings.md, written from the commands and the settings themselves.

python -m keyhole.core.cli.reference_pages
"""

from collections.abc import Iterator
from pathlib import Path

import click

from keyhole.core.cli.main import cli
from keyhole.core.config import is_user_only, setting_defaults, setting_keys, setting_ranges

_DOCS = Path(__file__).resolve().parents[2] / "docs"
_WIDTH = 100
# Defaults that depend on the machine or on other settings.
_COMPUTED = {
    "cache_dir": "the user's cache folder",
    "clients.NAME.max_tokens": "`view.max_tokens`",
    "clients.NAME.profile": "by its name",
    "index.workers": "one per core, at most 8",
    "view.max_tokens": "20,000, less if the client delivers less",
}
_COMMANDS = """\
# Commands

What `--help` says of each command. Results go to stdout, everything else to stderr. With `--json` a command prints the
same facts as JSON. The exit code is 0, 1 if nothing is found, or 2 for an error.
"""
_SETTINGS = """\
# Settings

Highest priority first: flags, `KEYHOLE_*` variables (`KEYHOLE_INDEX_WORKERS` for `index.workers`), `keyhole.toml` in
the workspace, and `config.toml` in the user's configuration folder. A workspace is untrusted, so it can't set the keys
marked "user". An unknown key or a value out of range is an error that names the file.

| key | default | set by | meaning |
|---|---|---|---|
"""
_EXPLORER_SETTINGS = """\
| `keys.COMMAND` | [keys](keys.md) | user | keys of a command in the explorer, by its name there |
| `theme` | keyhole-dark | user | theme of the explorer: any of Textual's, such as `nord`, or your own |
| `themes.NAME` | none | user | a theme of your own |

The settings of one client are a table of their own: `[clients.codex]` or `[clients."my-client"]`, by the name in
`keyhole clients` or the one that the client sends. Keys and themes are set only in your own `config.toml`:

```toml
theme = "mine"

[keys]
copy = ["f5", "y"]

[themes.mine]
primary = "#e3b663"
dark = true
```

A theme may also set `secondary`, `accent`, `foreground`, `background`, `surface`, `panel`, `boost`, `success`,
`warning`, `error`, `muted` and `frame`.
"""


def commands_page() -> str:
    """Return the help of every command."""
    shown = {"keyhole": cli} | dict(_commands_in(cli, "keyhole"))
    return _COMMANDS + "".join(_section(name, command) for name, command in shown.items() if not command.hidden)


def _commands_in(group: click.Group, name: str) -> Iterator[tuple[str, click.Command]]:
    """Yield the commands of a group, each followed by its own."""
    for own_name, command in sorted(group.commands.items()):
        yield f"{name} {own_name}", command
        if isinstance(command, click.Group):
            yield from _commands_in(command, f"{name} {own_name}")


def _section(name: str, command: click.Command) -> str:
    context = click.Context(command, info_name=name, terminal_width=_WIDTH, **cli.context_settings)
    return f"\n## {name}\n\n```text\n{command.get_help(context)}\n```\n"


def settings_page() -> str:
    """Return every setting with its default, its range and who may set it."""
    return _SETTINGS + "".join(map(_row, sorted(setting_keys()))) + _EXPLORER_SETTINGS


def _row(key: str) -> str:
    limits = setting_ranges().get(key)
    between = f" ({limits[0]:,} to {limits[1]:,})" if limits else ""
    who = "user" if is_user_only(key) else "anyone"
    return f"| `{key}` | {_default(key)} | {who} | {setting_keys()[key]}{between} |\n"


def _default(key: str) -> str:
    value = setting_defaults()[key]
    if isinstance(value, bool):
        return str(value).lower()
    return _COMPUTED.get(key) or (f"{value:,}" if isinstance(value, int) else str(value or "none"))


def main() -> None:
    """Write both pages."""
    (_DOCS / "cli.md").write_text(commands_page())
    (_DOCS / "settings.md").write_text(settings_page())


if __name__ == "__main__":
    main()
