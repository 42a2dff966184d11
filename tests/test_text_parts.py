"""The parts of a view: joined they are its text, their costs add up, and gaps say where something is missing."""

from dataclasses import replace

import pytest

from keyhole.core.links.requests import LinksRequest, ReferencesRequest, RelatedRequest, RelationRequest, TreeRequest
from keyhole.core.service import Service
from keyhole.core.types.choices import Detail, Format, Output
from keyhole.core.types.completeness import Completeness
from keyhole.core.types.view_requests import SearchRequest
from keyhole.core.view.budget import limits
from keyhole.core.view.budget.spending import RESULT, spending, whole_shares
from keyhole.core.view.budget.tokens import MILLI, token_weight
from keyhole.core.view.lists.listing import ListView
from keyhole.core.view.text_parts import PartKind, TextGap, joined

WIDE = SearchRequest("handle event", limit=50)
SEARCHES = {
    **{detail.value: replace(WIDE, detail_level=detail) for detail in Detail},
    "fenced": replace(WIDE, detail_level=Detail.RICH, line_numbers=False),
    "small": replace(WIDE, detail_level=Detail.RICH, max_tokens=1_500),
    "lines": SearchRequest("/def \\w+/", context_lines=2, limit=40),
    "counts": SearchRequest("/def \\w+/", output=Output.FILES),
    "nothing": SearchRequest("nothing_like_this_at_all"),
}
RELATIONS: dict[str, RelationRequest] = {
    "references": ReferencesRequest(symbol="backoff"),
    "links": LinksRequest("src/acme/retry.py"),
    "tree": TreeRequest(),
    "related": RelatedRequest("src/acme/retry.py", 20, detail_level=Detail.RICH),
}


def check_parts(view: ListView) -> None:
    assert joined(view.parts) == view.text
    spent = spending(view.parts)
    assert sum(one.weight for one in spent) == token_weight(view.text)
    results = [one for one in spent if one.item == RESULT]
    assert [one.result for one in results] == list(range(len(view.plan.levels)))
    assert [one.tokens for one in results] == [view.size_of(*at).tokens for at in enumerate(view.plan.levels)]


@pytest.mark.parametrize("name", SEARCHES)
def test_the_parts_of_a_search_are_its_text(acme: Service, name: str) -> None:
    check_parts(acme.search_view(SEARCHES[name]))


@pytest.mark.parametrize("name", RELATIONS)
def test_the_parts_of_a_relation_are_its_text(acme: Service, name: str) -> None:
    check_parts(acme.relation_view(RELATIONS[name]))


def test_json_has_no_parts(acme: Service) -> None:
    view = acme.search_view(replace(WIDE, format=Format.JSON, max_tokens=1_500))
    assert (view.parts, view.gaps) == ((), ())
    assert view.completeness.is_truncated


def test_context_is_told_from_the_source_that_was_found(acme: Service) -> None:
    result, view = acme.search_page(replace(WIDE, detail_level=Detail.RICH))
    passage = result.hits[0].passage
    assert passage
    kinds = {part.kind: part.text for part in view.parts if part.result == 0}
    first, last = passage.content[0].start_line, passage.content[-1].end_line
    numbers = [int(line.partition("\t")[0]) for line in kinds[PartKind.SOURCE].splitlines()]
    assert numbers == list(range(first, last + 1))
    around = [part for part in view.parts if part.result == 0 and part.kind == PartKind.CONTEXT]
    outside = [int(line.partition("\t")[0]) for part in around for line in part.text.splitlines() if "\t" in line]
    assert outside
    assert not set(outside) & set(numbers)


def test_gaps_say_what_the_banner_says(acme: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    shortened = acme.search_view(replace(WIDE, detail_level=Detail.RICH, max_tokens=1_500))
    (gap,) = shortened.gaps
    first = int(gap.numbers.partition("-")[0])
    assert (gap.lacks, gap.next) == (Completeness.SHORTENED, f"offset={first - 1}")
    assert shortened.parts[gap.after].result == first - 1 != shortened.parts[gap.after - 1].result
    assert f"{gap.numbers} shortened" in shortened.banner
    page = acme.search_view(replace(WIDE, limit=3))
    assert page.gaps == (TextGap(len(page.parts), Completeness.MORE_PAGES, "4-12", "offset=3"),)
    monkeypatch.setattr(limits, "MIN_TOKENS", 100)
    cut = acme.search_view(replace(WIDE, max_tokens=200))
    last = cut.gaps[-1]
    assert (last.after, last.lacks) == (len(cut.parts), Completeness.LEFT_OUT)
    assert f"{last.numbers} left out. Next page: {last.next}." in cut.banner
    assert acme.search_view(WIDE).gaps == ()


def test_shares_add_up() -> None:
    weights = [400, 400, 400, 1_700, 0, 1]
    shares = whole_shares(weights, MILLI)
    assert sum(shares) == 3
    assert shares == [1, 0, 1, 1, 0, 0]
