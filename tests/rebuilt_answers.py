"""Reads shortened answers of wrapped servers as an agent does: follows their notes from page to page, to the end."""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

Result = dict[str, Any]
More = Callable[[dict[str, Any]], Result]

_NEXT = re.compile(r"Next page: (\w+)\((.*?)\)\.")
_ARGUMENT = re.compile(r'(\w+)=("(?:[^"\\]|\\.)*"|\[[^\]]*\]|\d+)')


def note_of(result: Result) -> str:
    return str(result["content"][-1]["text"])


def next_call(result: Result) -> dict[str, Any] | None:
    """Return the arguments of the call that the note names; None at the end."""
    found = _NEXT.search(note_of(result))
    return {name: json.loads(value) for name, value in _ARGUMENT.findall(found[2])} if found else None


def all_pages(first: Result, more: More) -> Iterator[Result]:
    """Yield the shortened answer and every further page of it."""
    page, seen = first, set()
    while True:
        yield page
        call = next_call(page)
        if call is None:
            return
        place = (call["offset"], call.get("position", 0))
        assert place not in seen, f"the pages go in circles at {place}"
        seen.add(place)
        page = more(call)
        assert not page.get("isError"), note_of(page)


def rebuilt_texts(pages: list[Result]) -> dict[int, str]:
    """Return the text of each block, put together from what the pages show of it; a whole block is its JSON."""
    texts: dict[int, str] = {}
    ends: dict[int, int] = {}
    last: dict[int, str] = {}
    for number, page in enumerate(pages):
        meta = page["_meta"]["keyhole/page"]
        first_block = meta["first_block"] if number else 0
        cuts = {cut["block"]: cut for cut in meta["cut"]}
        for place, block in enumerate(page["content"][:-1], first_block):
            cut = cuts.get(place)
            if cut is None:
                texts[place] = block_text(block)
                continue
            shown = block_text(block, is_cut=True)
            before, body = shown[: cut["before"]], shown[cut["before"] : len(shown) - cut["after"]]
            assert len(body) == cut["end"] - cut["start"]
            if place not in texts:
                assert cut["start"] == len(before)
                texts[place] = before + body
            else:
                gap = cut["start"] - ends[place]
                assert gap in (0, 1)
                texts[place] += "," * gap + body
            ends[place] = cut["end"]
            last[place] = shown[len(shown) - cut["after"] :]
            assert cut["total"] >= cut["end"]
    return {place: text + last.get(place, "") for place, text in texts.items()}


def block_text(block: dict[str, Any], *, is_cut: bool = False) -> str:
    """Return the text of a block, or its JSON if it has none."""
    holder = block.get("resource", block)
    if isinstance(holder.get("text"), str) and (is_cut or block["type"] in ("text", "resource")):
        return str(holder["text"])
    return json.dumps(block, ensure_ascii=False, separators=(",", ":"))
