"""The search that an agent made, so that it can be repeated with other parameters."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from keyhole.core.clients import Profile, budget_for, profile_for, room_for
from keyhole.core.delivery import deliver
from keyhole.core.errors import QueryError
from keyhole.core.types.choices import Detail, Format, Mode, Output
from keyhole.core.types.search_results import Explanation, SearchResult
from keyhole.core.types.view_requests import SearchRequest
from keyhole.core.view.budget.room import within
from keyhole.core.view.lists.listing import ListView
from keyhole.core.view.lists.search_view import shown_files
from keyhole.core.view.text import name_text

if TYPE_CHECKING:
    from keyhole.core.service import Service
    from keyhole.core.types.calls import Call

_CHOICES = {"mode": Mode, "detail_level": Detail, "output": Output, "format": Format}
_TYPES: Mapping[str, type] = {
    "path": str,
    "language": str,
    "kind": str,
    "role": str,
    "include_tests": bool,
    "limit": int,
    "offset": int,
    "cursor": str,
    "max_tokens": int,
    "context_lines": int,
    "line_numbers": bool,
}


@dataclass(frozen=True, slots=True)
class Attempt:
    """An answer, and where a file is in it: its place on the page from 1 on, or 0 if it is not shown."""

    result: SearchResult
    view: ListView
    place: int
    # Whether the client's model would see the file.
    is_delivered: bool


@dataclass(frozen=True, slots=True)
class RecordedSearch:
    """A search as it was asked, and what its client does to answers."""

    service: "Service"
    request: SearchRequest
    profile: Profile

    @classmethod
    def of(cls, service: "Service", call: "Call") -> "RecordedSearch":
        """Return the search of a call; raise QueryError if its arguments make none."""
        given = call.parameters
        request = SearchRequest(_checked(given, "query", str), **_fields(given))
        if request.max_tokens is None:
            budget = call.budget or budget_for(call.client, service.settings)
            request = replace(request, max_tokens=budget)
        return cls(service, request, profile_for(call.client, service.settings))

    def explain(self, path: str, changes: Mapping[str, object]) -> Explanation:
        """Explain the rank of a file with other parameters."""
        return self.service.explain(replace(self.request, **_typed(changes)), path)

    def attempt(self, path: str, changes: Mapping[str, object], known: SearchResult | None = None) -> Attempt:
        """Make the search with other parameters, and look for a file in the answer; nothing is recorded."""
        request = replace(self.request, **_typed(changes))
        with within(room_for(self.profile)):
            result, view = self.service.search_page(request, known)
        paths = [shown.path for shown in shown_files(result, view)]
        place = paths.index(path) + 1 if path in paths else 0
        return Attempt(result, view, place, bool(place) and is_delivered(view.text, path, self.profile))


def is_delivered(answer: str, path: str, profile: Profile) -> bool:
    """Return whether what a client delivers of an answer names a file."""
    return name_text(path) in deliver(answer, profile).text


def _fields(given: Mapping[str, object]) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for name, kind in (*_TYPES.items(), *_CHOICES.items()):
        if given.get(name) is not None:
            fields[name] = kind(_checked(given, name, str)) if name in _CHOICES else _checked(given, name, kind)
    return fields


def _typed(changes: Mapping[str, object]) -> dict[str, Any]:
    return {name: _CHOICES[name](str(value)) if name in _CHOICES else value for name, value in changes.items()}


def _checked(given: Mapping[str, object], name: str, kind: type) -> Any:  # as the type says
    value = given.get(name)
    # Agents may send numbers and booleans as text.
    if kind is int and isinstance(value, str) and value.lstrip("-").isdecimal():
        return int(value)
    if kind is bool and value in ("true", "false"):
        return value == "true"
    if not isinstance(value, kind) or (name in _CHOICES and value not in list(_CHOICES[name])):
        raise QueryError(f"the call has no usable {name}: {name_text(str(value), 60)}")
    return value
