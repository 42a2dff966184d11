"""The manual page, made from the help: `python -m keyhole.core.cli.man_page` prints it in roff (`make man`)."""

import re
from collections.abc import Iterator
from importlib.metadata import version

import click

from keyhole.core.cli.examples import EXAMPLES

_EXIT_CODES = {
    "0": "Something was found or done.",
    "1": "Nothing was found, or keyhole doctor found a problem.",
    "2": "An error, which is on stderr.",
}


def man_page(group: click.Group) -> str:
    """Return the page of a group and of all its commands."""
    context = click.Context(group, info_name="keyhole", **group.context_settings)
    return "\n".join(_lines(group, context)) + "\n"


def _lines(group: click.Group, context: click.Context) -> Iterator[str]:
    first, *rest = (group.help or "").split("\n\n")
    yield f'.TH KEYHOLE 1 "" "keyhole {version("keyhole")}" "User Commands"'
    yield from (".SH NAME", f"keyhole \\- {_roff(first.strip().rstrip('.'))}")
    yield from (".SH SYNOPSIS", ".B keyhole", "[PATH]...", ".br", ".B keyhole", "COMMAND [OPTIONS] [ARGUMENTS]")
    yield ".SH DESCRIPTION"
    for paragraph in rest:
        yield from (".PP", _roff(paragraph))
    yield ".SH COMMANDS"
    for name in group.list_commands(context):
        command = group.commands[name]
        if not command.hidden:
            yield from _command_lines(command, click.Context(command, context, name))
    yield ".SH EXIT STATUS"
    for code, meaning in _EXIT_CODES.items():
        yield from (".TP", f".B {code}", _roff(meaning))


def _command_lines(command: click.Command, context: click.Context) -> Iterator[str]:
    usage = " ".join(command.collect_usage_pieces(context))
    yield from (f'.SS "keyhole {command.name} {_roff(usage)}"', ".PP", _roff(command.help or ""))
    for parameter in command.get_params(context):
        flags, text = parameter.get_help_record(context) or ("", "")
        if text:
            yield from (".TP", f".B {_roff(flags)}", _roff(text))
    for line, meaning in EXAMPLES.get(command.name or "", ()):
        yield from (".TP", f".I {_roff(line)}", _roff(meaning))


def _roff(text: str) -> str:
    """Return a text on one line, so that nothing in it is taken for a request of roff."""
    joined = re.sub(r"\s+", " ", text).strip().replace("\\", "\\e").replace("-", "\\-").replace('"', "\\(dq")
    return f"\\&{joined}" if joined.startswith((".", "'")) else joined


if __name__ == "__main__":
    from keyhole.core.cli.main import cli

    print(man_page(cli), end="")
