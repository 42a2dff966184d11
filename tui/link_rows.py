"""The links of a file as rows: what leads out, what is broken, what lies outside, and what leads here."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from keyhole.core.links.link_types import BROKEN
from keyhole.core.links.requests import Category
from keyhole.tui.history import Place


@dataclass(frozen=True, slots=True)
class LinkRow:
    """A row: a title, a link, or the way to more; `place` is where it leads, `problem` why it leads nowhere."""

    text: str
    note: str = ""
    place: Place | None = None
    problem: str = ""
    address: str = ""
    more: tuple[Category, int] | None = None
    is_title: bool = False


Results = list[dict[str, Any]]
TITLES = {"internal": "outgoing", "broken": "broken", "external": "external", "incoming": "incoming"}


def link_rows(answer: Mapping[str, Any], category: Category | None = None) -> list[LinkRow]:
    """Make rows of an answer of get_links: of all categories, or of a page of one."""
    groups: dict[str, Results] = {title: [] for title in TITLES}
    for result in answer["results"]:
        groups[_group(result, category)].append(result)
    totals = answer.get("categories") or {}
    rows: list[LinkRow] = []
    for group, results in groups.items():
        if results:
            rows.append(LinkRow(f"{TITLES[group]} {_count(group, results, totals, answer)}", is_title=True))
            rows += [_row(group, result) for result in results]
            rows += _rest(group, totals, answer, category)
    return rows


def _group(result: dict[str, Any], category: Category | None) -> str:
    group = str(result.get("category", category))
    return "broken" if group == Category.INTERNAL and result.get("reason") in BROKEN else group


def _count(group: str, results: Results, totals: Mapping[str, Any], answer: Mapping[str, Any]) -> str:
    """Say how many there are; broken ones are among the outgoing, so only those that are here are known."""
    if group in totals and group != Category.INTERNAL:
        return f"{totals[group]['total']:,}"
    if group == "broken" or totals:
        return f"{len(results):,}"
    first = answer["pagination"]["offset"] + 1
    return f"{first:,}-{first + len(results) - 1:,} of {answer['total_count']:,}"


def _row(group: str, result: dict[str, Any]) -> LinkRow:
    line, target = result["line"], result["target"]
    if group == Category.INCOMING:
        return LinkRow(f"{result['file_path']}:{line}", target, Place(result["file_path"], line))
    text = f"{line}: {target}"
    if group == Category.EXTERNAL:
        return LinkRow(text, result.get("site", ""), address=target)
    if reason := result.get("reason"):
        return LinkRow(text, f"{'✗' if reason in BROKEN else '?'} {reason}", problem=reason, place=_target(result))
    line = f":{result['to_line']}" if "to_line" in result else ""
    return LinkRow(text, f"→ {result['to']}{line}", _target(result))


def _target(result: dict[str, Any]) -> Place | None:
    return Place(result["to"], result.get("to_line", 1)) if "to" in result else None


def _rest(
    group: str, totals: Mapping[str, Any], answer: Mapping[str, Any], category: Category | None
) -> Iterator[LinkRow]:
    """Yield the way to the next page, if there is one."""
    if group == "broken":
        return
    if category is None:
        shown, total = totals[group]["returned"], totals[group]["total"]
    else:
        shown, total = answer["pagination"]["offset"] + answer["returned_count"], answer["total_count"]
    if shown < total:
        yield LinkRow(f"▾ {total - shown:,} more", more=(Category(group), shown))
