"""Records of JSON: elements of the main array, members of the main object, lines of the main string, or JSON Lines."""

import re
from collections.abc import Callable, Sequence

from keyhole.core.view.budget.tokens import MILLI, token_weight
from keyhole.core.wrap.shortening.inside_cuts import JsonCuts, StringCuts
from keyhole.core.wrap.shortening.json_spans import (
    JsonChild,
    after_blanks,
    children,
    comma_after,
    is_json,
    safe_string_position,
)
from keyhole.core.wrap.shortening.layouts import Cut, FieldChooser, Layout, RecordUnit

# What is around the records is on every page, so it has to be small, whatever the budget is.
LARGEST_FRAME_TOKENS, LARGEST_FRAME = 250, 1_000
_LINE_END = re.compile(r"\\n")
_JSON_LINE = re.compile(r"^[\[{]", re.MULTILINE)


def is_small_frame(text: str) -> bool:
    """Return whether a text may be repeated on every page."""
    return len(text) <= LARGEST_FRAME and token_weight(text) <= LARGEST_FRAME_TOKENS * MILLI


def json_layout(text: str, fields: Callable[[bool], FieldChooser]) -> Layout | None:
    """Return the layout of a text that is one array or object; None if it is not."""
    start = after_blanks(text, 0)
    return _layout_at(text, start, fields) if is_json(text, start) else None


def json_after_words(text: str, fields: Callable[[bool], FieldChooser]) -> Layout | None:
    """Return the layout of JSON after a few words, such as "Found 30 results:", which are then on every page."""
    match = _JSON_LINE.search(text, 0, LARGEST_FRAME + 2)
    if match is None or match.start() == 0 or not is_small_frame(text[: match.start()]):
        return None
    return _layout_at(text, match.start(), fields) if is_json(text, match.start()) else None


def _layout_at(text: str, start: int, fields: Callable[[bool], FieldChooser]) -> Layout | None:
    while True:
        found = children(text, start) if text[start] in "[{" else []
        inner = _main_child(text, found, start)
        if inner is None:
            layout = _container_layout(text, start, found, fields)
            return layout if is_small_frame(text[: layout.start] + text[layout.end :]) else None
        if text[inner.value] == '"':
            return _string_layout(text, inner)
        start = inner.value


def _main_child(text: str, found: Sequence[JsonChild], start: int) -> JsonChild | None:
    """Return the child that holds nearly all of an object, or of an array with a single element."""
    if not found or (text[start] == "[" and len(found) > 1):
        return None
    main = max(found, key=lambda child: child.end - child.value)
    is_long = 2 * (main.end - main.value) > len(text) and text[main.value] in '[{"'
    return main if is_long and is_small_frame(text[: main.value + 1] + text[main.end - 1 :]) else None


def _container_layout(
    text: str, start: int, found: Sequence[JsonChild], fields: Callable[[bool], FieldChooser]
) -> Layout:
    is_object = text[start] == "{"
    commas = [comma_after(text, child) for child in found[:-1]]
    return Layout(
        text=text,
        unit=RecordUnit.KEYS if is_object else RecordUnit.RECORDS,
        start=start + 1,
        end=found[-1].end if found else start + 1,
        cuts=[Cut(comma, comma + 1) for comma in commas],
        inside=JsonCuts(text, are_members=is_object),
        fields=fields(is_object),
        joint=",",
    )


def _string_layout(text: str, inner: JsonChild) -> Layout:
    start, end = inner.value + 1, inner.end - 1
    ends = [match.end() for match in _LINE_END.finditer(text, start, end)]
    true_ends = [at for at in ends if at < end and safe_string_position(text, at - 2, start) == at - 2]
    return Layout(text, RecordUnit.LINES, start, end, [Cut(at, at) for at in true_ends], StringCuts(text))


def json_lines_layout(text: str, lines: Sequence[Cut], fields: FieldChooser) -> Layout | None:
    """Return the layout of JSON Lines: every line is an array or an object."""
    if not lines or text[:1] not in ("[", "{"):
        return None
    starts = [0, *(cut.right for cut in lines)]
    ends = [*(cut.left for cut in lines), len(text)]
    if not all(is_json(text[start:end]) for start, end in zip(starts, ends, strict=True)):
        return None
    return Layout(text, RecordUnit.RECORDS, 0, len(text), lines, JsonCuts(text), fields=fields)
