"""Examples for the help of every command; tests parse each of them."""

import click

# For each command: what to type, and what it does.
EXAMPLES: dict[str, tuple[tuple[str, str], ...]] = {
    "index": (
        ("keyhole index", "update the index of this folder"),
        ("keyhole index ~/src/acme --full", "read every file again"),
    ),
    "status": (
        ("keyhole status", "show what is indexed"),
        ("keyhole status --skipped", "list every skipped path with its reason"),
        ("keyhole status --store", "show the size of what all workspaces share"),
    ),
    "stats": (("keyhole stats", "show what agents asked, and what it cost"),),
    "clear": (
        ("keyhole clear ~/src/acme", "delete its index and journal"),
        ("keyhole clear --all", "delete everything that Keyhole has stored about any workspace"),
    ),
    "search": (
        ("keyhole search 'retry with backoff'", "search by words and meaning"),
        ("keyhole search QuerySet.filter --mode symbol", "search by name"),
        ("keyhole search '/TODO\\(\\w+\\)/' --path src", "search by a regular expression in a folder"),
        ("keyhole search 'parse config' --detail rich --budget 4000", "show source, in at most 4,000 tokens"),
        ("keyhole search 'parse config' --as codex", "show what Codex delivers to its model"),
    ),
    "explain": (("keyhole explain 'parse config' src/settings.py", "explain the rank of a file"),),
    "missed": (("keyhole missed 12 src/settings.py", "explain why call 12 did not show a file"),),
    "map": (
        ("keyhole map src/app.py", "show what a file imports and defines"),
        ("keyhole map src/app.py --symbol App.run", "show one symbol"),
    ),
    "read": (
        ("keyhole read src/app.py --start-line 120 --max-lines 40", "show 40 lines"),
        ("keyhole read src/app.py README.md --budget 2000", "share a budget between files"),
    ),
    "bundle": (
        ("keyhole bundle review.toml", "write what the bundle lists, as agents get it"),
        ("keyhole bundle review.toml --format xml", "the same as XML"),
    ),
    "links": (("keyhole links src/app.py", "list what a file links to, and what links to it"),),
    "backlinks": (("keyhole backlinks docs", "list every link to a folder"),),
    "broken": (("keyhole broken --path docs", "list broken links in a folder"),),
    "search-links": (
        ("keyhole search-links --has-links-to src/app.py", "list the files that link to a file"),
        ("keyhole search-links --external-domains numpy", "list the files that use a package"),
    ),
    "tree": (
        ("keyhole tree src --relation descendants --symbols", "list everything in a folder"),
        ("keyhole tree --pattern '*_test.go' --sort newest", "list files by name, newest first"),
        ("keyhole tree --tokens", "show what reading and mapping costs"),
    ),
    "related": (("keyhole related src/app.py --line 120", "find code similar to that around a line"),),
    "refs": (
        ("keyhole refs QuerySet.filter", "find what uses a definition"),
        ("keyhole refs App.run --relation callers --depth 2", "find its callers, and theirs"),
    ),
    "install": (
        ("keyhole install claude", "add keyhole to Claude Code, for this workspace"),
        ("keyhole install codex --scope user", "add it for all your workspaces"),
        ("keyhole install --all --instructions", "add it to every client on this machine"),
        ("keyhole install goose --print", "only show what to add, and where"),
    ),
    "uninstall": (("keyhole uninstall claude", "remove keyhole from Claude Code"),),
    "clients": (("keyhole clients", "show how each client truncates answers"),),
    "mcp": (
        ("keyhole mcp", "serve the client that started it, on stdio"),
        ("keyhole mcp --http --port 7777", "serve any number of clients over HTTP"),
        ("keyhole mcp --http --team", "serve a team's repositories; tokens decide who sees which"),
    ),
    "wrap": (
        ("keyhole wrap -- npx -y @modelcontextprotocol/server-everything", "run a server and record its calls"),
        ("keyhole wrap --port 7901 http://127.0.0.1:8000/mcp", "the same for a server with an address"),
        ("keyhole wrap --budget 8000 -- uvx mcp-server-git", "shorten its answers, and keep the rest for the agent"),
        ("keyhole wrap --install claude github", "make the server github of Claude Code go through the wrap"),
        ("keyhole wrap --uninstall claude github", "put its entry back as it was"),
    ),
    "cost": (
        ("keyhole cost -- npx -y @modelcontextprotocol/server-everything", "show what its tools cost each client"),
    ),
    "web": (("keyhole web ~/src/acme", "open the explorer in a browser"),),
    "demo": (
        ("keyhole demo", "watch an agent work on a part of keyhole's own source"),
        ("keyhole demo ~/src/acme", "watch it work on your code"),
    ),
    "check": (
        ("keyhole check --init", "write a first checks file"),
        ("keyhole check", "run the checks of this folder"),
        ("keyhole check --compare HEAD~1", "see what a change made better or worse"),
    ),
    "doctor": (
        ("keyhole doctor", "check this installation and this folder"),
        ("keyhole doctor --bundle report.md", "also write a file for a bug report"),
    ),
    "team": (
        ("keyhole team add /srv/mirrors/acme.git --group backend", "add a mirror to a group"),
        ("keyhole team work --once", "index everything that is waiting"),
        ("keyhole team sync --fetch --watch 300", "fetch every five minutes, and ask for what has changed"),
        ("keyhole team list", "show what is indexed, and what failed"),
    ),
    "admin": (
        ("keyhole admin init", "create the tables of keyhole in the team's database"),
        ("keyhole admin status", "show the server and its repositories"),
        ("keyhole admin token create ann --group backend", "let Ann's agents ask about the group backend"),
        ("keyhole admin audit --token ann", "show what they asked"),
    ),
    "completion": (
        ("keyhole completion bash > ~/.local/share/bash-completion/completions/keyhole", "for bash"),
        ('keyhole completion zsh > "${fpath[1]}/_keyhole"', "for zsh"),
        ("keyhole completion fish > ~/.config/fish/completions/keyhole.fish", "for fish"),
    ),
}


def add_examples(command: click.Command) -> None:
    """Put the examples of a command at the end of its help."""
    lines = [f"  {line}\n      {meaning}" for line, meaning in EXAMPLES.get(command.name or "", ())]
    if lines:
        # \b keeps click from joining the lines.
        examples = "\n".join(["\b", "Examples:", *lines])
        command.epilog = f"{command.epilog}\n\n{examples}" if command.epilog else examples
