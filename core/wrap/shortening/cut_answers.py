"""Shortens the result of a tool call to a budget, and keeps what is left out."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from keyhole.core.wrap.shortening.answer_blocks import (
    PAGE,
    Block,
    compact_json,
    shown_text,
    text_block,
)
from keyhole.core.wrap.shortening.answer_budget import AnswerBudget
from keyhole.core.wrap.shortening.documents import AnswerDocument, AnswerPage
from keyhole.core.wrap.shortening.kept_answers import KeptAnswers
from keyhole.core.wrap.shortening.left_out_notes import MoreCall, first_note
from keyhole.core.wrap.shortening.output_schemas import NOTE, follows, shortest

Result = dict[str, Any]
_STRUCTURED = "structuredContent"


class CannotShortenError(Exception):
    """An answer has no shorter form that its client would accept."""


@dataclass(frozen=True, slots=True)
class Shortener:
    """Shortens answers to a budget; `tool` is the name of the tool that returns the rest."""

    budget: AnswerBudget
    kept: KeptAnswers
    tool: str

    def is_small(self, result: Result) -> bool:
        """Return whether a result fits as it is, or is not made of content blocks."""
        content = result.get("content")
        has_blocks = isinstance(content, list) and all(isinstance(block, dict) for block in content)
        return not has_blocks or self._result_fits(result)

    def shortened(self, result: Result, schema: Mapping[str, Any] | None) -> Result:
        """Return a shorter result.

        With a schema, the structured content follows it and stays; without one, it is left out where the text says the
        same or can say it.
        """
        content = result["content"]
        structured, is_error = result.get(_STRUCTURED), result.get("isError") is True
        if structured is None or schema is None:
            return self._as_text(result, content, structured, is_error)
        return self._with_structure(result, content, structured, schema)

    def _as_text(self, result: Result, content: list[Block], structured: object, is_error: bool) -> Result:
        rest = {name: value for name, value in result.items() if name != _STRUCTURED}
        if structured is not None and not _says_the_same(content, structured):
            content = [*content, text_block(compact_json(structured))]
        elif self._fits(content, None, is_error):
            return rest
        cut = _CutContent(self, content, self.budget, is_error)
        return self._checked({**rest, "content": cut.blocks, "_meta": _meta(result, cut.page)})

    def _with_structure(
        self, result: Result, content: list[Block], structured: object, schema: Mapping[str, Any]
    ) -> Result:
        """Give half of the budget to the text, and the rest to the structured content: some clients show both."""
        says_the_same = _says_the_same(content, structured)
        kept = content if says_the_same else [*content, text_block(compact_json(structured))]
        cut = _CutContent(self, kept, self.budget.half(), is_error=False)
        document = AnswerDocument.of([text_block(compact_json(structured))], [0])

        def with_page(value: object) -> Result:
            noted = {**value, NOTE: cut.note} if isinstance(value, dict) else value
            return {**result, "content": cut.blocks, _STRUCTURED: noted, "_meta": _meta(result, cut.page)}

        def fits(page: AnswerPage) -> bool:
            return self._result_fits(with_page(_parsed(page)))

        forms = (_parsed(document.page(0, 0, fits)), shortest(structured, schema, schema))
        for short in (with_page(form) for form in forms):
            if follows(short[_STRUCTURED], schema) and self._result_fits(short):
                return short
        raise CannotShortenError("its structured content has no shorter form")

    def _checked(self, result: Result) -> Result:
        if not self._result_fits(result):
            raise CannotShortenError("nothing of it is small enough")
        return result

    def _result_fits(self, result: Result) -> bool:
        return self._fits(result["content"], result.get(_STRUCTURED), result.get("isError") is True)

    def _fits(self, content: Sequence[Block], structured: object, is_error: bool) -> bool:
        return self.budget.fits(content, structured, is_error=is_error)


class _CutContent:
    """The blocks of a shortened answer: a page of the largest block among all the others, or a page of all of them."""

    def __init__(self, shortener: Shortener, content: list[Block], budget: AnswerBudget, is_error: bool) -> None:
        self._budget = budget
        self._is_error = is_error
        self._content = content
        self._main = self._main_block()
        numbers = range(len(content)) if self._main is None else [self._main]
        blocks = [content[number] for number in numbers]
        self._document = AnswerDocument.of(blocks, list(numbers))
        self._label = shortener.budget.label
        self._call = MoreCall(shortener.tool, shortener.kept.keep(blocks, list(numbers)))
        self.page = self._document.page(0, 0, self._fits)
        self.note = self._note(self.page)
        self.blocks = self._blocks(self.page)

    def _main_block(self) -> int | None:
        """Return the block that holds most of the text, if all the others take at most half of the budget."""
        sizes = [len(shown_text(block)) for block in self._content]
        main = sizes.index(max(sizes))
        others = [block for number, block in enumerate(self._content) if number != main]
        is_most = 2 * sizes[main] >= sum(sizes)
        fits = self._budget.half().fits(others, is_error=self._is_error)
        return main if is_most and fits else None

    def _note(self, page: AnswerPage) -> str:
        return first_note(page, self._document, self._call, self._label)

    def _blocks(self, page: AnswerPage) -> list[Block]:
        if self._main is None:
            return [*page.blocks, text_block(self._note(page))]
        before, after = self._content[: self._main], self._content[self._main + 1 :]
        return [*before, *page.blocks, *after, text_block(self._note(page))]

    def _fits(self, page: AnswerPage) -> bool:
        return self._budget.fits(self._blocks(page), is_error=self._is_error)


def _parsed(page: AnswerPage) -> object:
    return _value(page.blocks[0]["text"])


def _meta(result: Result, page: AnswerPage) -> dict[str, Any]:
    given = result.get("_meta")
    return {**(given if isinstance(given, dict) else {}), PAGE: page.meta()}


def _says_the_same(content: Sequence[Block], structured: object) -> bool:
    """Return whether the text blocks say what the structured content says, which may be an object of one value."""
    is_wrapped = isinstance(structured, dict) and len(structured) == 1
    values = [structured, *structured.values()] if is_wrapped and isinstance(structured, dict) else [structured]
    texts = [block["text"] for block in content if isinstance(block.get("text"), str)]
    parsed = [_value(text) for text in texts]
    said = [*texts, *parsed, texts, parsed]
    return any(value == each for value in values for each in said)


def _value(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
