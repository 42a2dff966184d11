"""The paging parameters that several tools share; agents see them after the tool's own parameters."""

from collections.abc import Awaitable, Callable
from inspect import Parameter, Signature, signature
from typing import Literal, TypedDict, TypeVar

from fastmcp import Context

from keyhole.core.types.choices import Format

FormatName = Literal["text", "json"]
DetailName = Literal["minimal", "compact", "rich", "auto"]
Request = TypeVar("Request")


class Paging(TypedDict):
    """The paging parameters as requests take them."""

    limit: int | None
    offset: int
    cursor: str
    max_tokens: int | None
    format: Format


def paged(
    make: Callable[..., Request], limit: int | None, ask: Callable[[Context, Request], Awaitable[str]]
) -> Callable[..., Awaitable[str]]:
    """Make a tool from the function that makes its request and takes the paging parameters as `**paging`."""
    *own, _ = signature(make).parameters.values()

    async def tool(context: Context, **given: object) -> str:
        return await ask(context, make(**given | {"format": Format(str(given["format"]))}))

    shown = Signature([_parameter("context", Context), *own, *_paging(limit)], return_annotation=str)
    tool.__name__ = make.__name__
    tool.__signature__ = shown  # type: ignore[attr-defined]
    tool.__annotations__ = {name: parameter.annotation for name, parameter in shown.parameters.items()}
    return tool


def _paging(limit: int | None) -> list[Parameter]:
    return [
        _parameter("limit", int if limit else int | None, limit),
        _parameter("offset", int, 0),
        _parameter("cursor", str, ""),
        _parameter("max_tokens", int | None, None),
        _parameter("format", FormatName, "text"),
    ]


def _parameter(name: str, annotation: object, default: object = Parameter.empty) -> Parameter:
    return Parameter(name, Parameter.POSITIONAL_OR_KEYWORD, annotation=annotation, default=default)
