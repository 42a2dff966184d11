"""Where the server's token comes from: a file, stdin, the environment, or the command line, which everyone can see."""

import os
import stat
import sys
from pathlib import Path

import click

from keyhole.core.types.choices import TOKEN_VARIABLE

_STDIN = "-"
_LONGEST = 1_000
_READABLE_BY_OTHERS = stat.S_IRGRP | stat.S_IROTH

TOKEN_HELP = f"Token that clients must send, or - to read it from stdin; default: ${TOKEN_VARIABLE}, or a new one."
TOKEN_FILE_HELP = "File with the token; only you may be able to read it."  # noqa: S105  # a text about it


def forget_token() -> str:
    """Remove the token from the environment and return it: programs that this one starts need not know it."""
    return os.environ.pop(TOKEN_VARIABLE, "")


def given_token(token: str | None, token_file: Path | None) -> str | None:
    """Return the token that the user gave, or None; raise UsageError if it can't be used."""
    variable = forget_token()
    if token is not None and token_file is not None:
        raise click.UsageError("--token and --token-file cannot be used together")
    if token_file is not None:
        return _checked(_read_file(token_file), f"{token_file}:")
    if token == _STDIN:
        return _checked(_read_stdin(), "stdin:")
    if token is not None:
        return _checked(token, "--token:")
    return _checked(variable, f"{TOKEN_VARIABLE}:") if variable else None


def _read_stdin() -> str:
    if sys.stdin.isatty():
        return str(click.prompt("Token", hide_input=True, err=True, default="", show_default=False))
    return sys.stdin.readline(_LONGEST + 2)


def _read_file(path: Path) -> str:
    try:
        with path.open("rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            if mode & _READABLE_BY_OTHERS and os.name == "posix":
                raise click.UsageError(
                    f"other users can read {path} (mode {stat.S_IMODE(mode):04o}); run `chmod 600 {path}`"
                )
            return file.read(_LONGEST + 2).decode("utf-8", "replace")
    except OSError as error:
        raise click.UsageError(f"cannot read {path}: {error.strerror}") from None


def _checked(text: str, source: str) -> str:
    token = text.strip()
    if not token:
        raise click.UsageError(f"{source} the token is empty")
    # A header of HTTP can't carry anything else.
    if len(token) > _LONGEST or not (token.isascii() and token.isprintable()) or " " in token:
        raise click.UsageError(
            f"{source} a token must be one line of letters, digits and punctuation, at most {_LONGEST:,} characters"
        )
    return token
