"""The tool that wrapped servers get with a budget: it pages through kept answers, and filters them."""

from collections.abc import Mapping, Sequence
from typing import Any

from keyhole.core.errors import KeyholeError
from keyhole.core.untrusted_text import error_text
from keyhole.core.wrap.shortening.answer_blocks import PAGE, text_block
from keyhole.core.wrap.shortening.answer_budget import AnswerBudget
from keyhole.core.wrap.shortening.documents import AnswerDocument, AnswerPage
from keyhole.core.wrap.shortening.kept_answers import KeptAnswers
from keyhole.core.wrap.shortening.left_out_notes import MoreCall, page_note
from keyhole.core.wrap.shortening.record_filter import filtered


class _WrongArgumentError(KeyholeError):
    """An argument has the wrong type."""


def answer_more(arguments: Mapping[str, Any], kept: KeptAnswers, budget: AnswerBudget, tool: str) -> dict[str, Any]:
    """Return the result of a call of our tool."""
    try:
        return _answer(arguments, kept, budget, tool)
    except KeyholeError as error:
        return {"content": [text_block(error_text(str(error)))], "isError": True}


def _answer(arguments: Mapping[str, Any], kept: KeptAnswers, budget: AnswerBudget, tool: str) -> dict[str, Any]:
    handle, query = _text(arguments, "handle"), _text(arguments, "query")
    fields = _fields(arguments)
    offset, position = _number(arguments, "offset"), _number(arguments, "position")
    whole = kept.find(handle)
    if whole is None:
        raise _WrongArgumentError(f"no answer with handle {handle!r} is kept; call the server's tool again")
    document = filtered(whole, query, fields) if query or fields else whole
    if offset >= document.count:
        return {"content": [text_block(_past_end(document, whole, query))]}
    call = MoreCall(tool, handle, query, fields)
    searched = whole.count if query else None

    def blocks(page: AnswerPage) -> Sequence[dict[str, Any]]:
        return [*page.blocks, text_block(page_note(page, document, call, searched))]

    def fits(page: AnswerPage) -> bool:
        return budget.fits(blocks(page))

    page = document.page(offset, position, fits)
    meta = {} if query or fields else {"_meta": {PAGE: page.meta()}}
    return {"content": blocks(page), **meta}


def _past_end(document: AnswerDocument, whole: AnswerDocument, query: str) -> str:
    if query and not document.count:
        return f"[None of the {whole.count:,} {whole.unit} match.]"
    return f"[This is past the end: there are {document.count:,} {document.unit}.]"


def _text(arguments: Mapping[str, Any], name: str) -> str:
    value = arguments.get(name) or ""
    if not isinstance(value, str):
        raise _WrongArgumentError(f"{name} must be a string")
    return value


def _number(arguments: Mapping[str, Any], name: str) -> int:
    value = arguments.get(name) or 0
    if isinstance(value, str) and value.isdecimal() and len(value) < 20:
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 2**63 or value != int(value):
        raise _WrongArgumentError(f"{name} must be a whole number, 0 or more")
    return int(value)


def _fields(arguments: Mapping[str, Any]) -> list[str]:
    value = arguments.get("fields") or []
    fields = value.split(",") if isinstance(value, str) else value
    if not isinstance(fields, list) or not all(isinstance(field, str) for field in fields):
        raise _WrongArgumentError('fields must be a list of names, such as ["id", "title"]')
    return [field.strip() for field in fields if field.strip()]
