"""Parameters at a shell: answers name those of tools (`offset=40`), as agents get them; commands have flags."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import click

_GIVEN = re.compile(r"([a-z_]+)=(.+)", re.DOTALL)


class AnswerCommand(click.Command):
    """A command that prints an answer. What the answer names works as it is written: `offset=40` is `--offset 40`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments, with flags in place of parameters."""
        return super().parse_args(ctx, args if ctx.resilient_parsing else self._with_flags(ctx, args))

    def _with_flags(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Return the arguments with flags in place of parameters; a query or a path that is required is never one."""
        found, extra, _ = self.make_parser(ctx).parse_args(list(args))
        flags: list[str] = []
        rest = list(args)
        for given in [*self._optional(found), *extra]:
            if written := flags_of(self, given):
                flags += written
                rest.remove(given)
        return [*flags, *rest]

    def _optional(self, found: Mapping[str, Any]) -> Iterator[str]:
        """Yield the arguments that could be left out."""
        for argument in self.params:
            if isinstance(argument, click.Argument):
                given = found.get(argument.name or "") or ()
                values = given if isinstance(given, tuple) else (given,)
                # Click has an object of its own for what was not given.
                yield from (value for value in values[argument.required :] if isinstance(value, str))


def flag_of(command: click.Command, parameter: str) -> str:
    """Return the flag for a parameter, or its name if the command has no such flag."""
    option = _option(command, parameter)
    return option.opts[0] if option else parameter


def flags_of(command: click.Command, given: str) -> list[str]:
    """Return the flags for parameters such as `category=incoming offset=40`; none if the command lacks one of them."""
    flags: list[str] = []
    for part in given.split(" "):
        named = _GIVEN.fullmatch(part)
        option = _option(command, named[1]) if named else None
        if named is None or option is None:
            return []
        if option.is_flag:
            flags += option.opts[:1] if named[2] == "true" else option.secondary_opts[:1]
        else:
            flags += [option.opts[0], named[2]]
    return flags


def _option(command: click.Command, parameter: str) -> click.Option | None:
    return next((it for it in command.params if isinstance(it, click.Option) and it.name == parameter), None)
