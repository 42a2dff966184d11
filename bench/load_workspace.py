"""A workspace that changes while agents use it, and questions with known answers.

Files in `stable` never change, so answers about them are known to the byte. Each file in `changing` is replaced again
and again, with its version on every line: an answer must show one version only, and not one that was replaced before
the question. Files in `passing` are created and deleted.
"""

import random
import re
import threading
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from pathlib import Path

from keyhole.core.links.requests import BacklinksRequest, LinksRequest, TreeRequest
from keyhole.core.service import Service
from keyhole.core.types.choices import Detail, Format, Mode
from keyhole.core.types.view_requests import MapRequest, ReadRequest, SearchRequest
from keyhole.core.view.budget.limits import DEFAULT_TOKENS, EFFECTIVE_CHARACTERS
from keyhole.core.view.budget.sizes import measure

STABLE, CHANGING = 300, 40
_LINES = 30
_PAUSE = 0.02
_VERSION = re.compile(r"version_(\d+)")
_TOTAL = re.compile(r"of ([\d,]+)")
# The only line of an answer that depends on other files.
_ABOUT_OTHERS = re.compile(r"(?m)^Note: the index is being built\b.*\n")
# The most tokens that this line takes from the budget of the others.
_NOTE_TOKENS = 40


class Workspace:
    """The files, and a thread that changes them."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.versions = [0] * CHANGING
        self.changes = 0
        self._stop = threading.Event()
        for number in range(STABLE):
            body = "".join(f"    total += weigh({line}, total)  # part {number}\n" for line in range(number % 40 + 3))
            head = f"from stable.part_{number // 2} import weigh_{number // 2}\n\n\n"
            self._write(f"stable/part_{number}.py", f"{head}def weigh_{number}(total):\n{body}    return total\n")
        for number in range(CHANGING):
            self._write_version(number)

    def change(self) -> None:
        """Change files until `stop` is called."""
        chance = random.Random(1)
        while not self._stop.wait(_PAUSE):
            number = chance.randrange(CHANGING)
            self._write_version(number)
            self.versions[number] += 1
            passing = self.root / f"passing/file_{self.changes % 20}.py"
            if passing.exists():
                passing.unlink()
            else:
                self._write(f"passing/file_{self.changes % 20}.py", f"def passes_{self.changes}(): ...\n")
            self.changes += 1

    def stop(self) -> None:
        """Stop changing files."""
        self._stop.set()

    def _write_version(self, number: int) -> None:
        version = self.versions[number] + 1
        lines = [f"    step_{line} = {version}  # version_{version}\n" for line in range(_LINES)]
        self._write(f"changing/file_{number}.py", f"def changes_{number}():  # version_{version}\n{''.join(lines)}")

    def _write(self, path: str, text: str) -> None:
        """Replace a file atomically, as editors and version control do."""
        target = self.root / path
        target.parent.mkdir(exist_ok=True, parents=True)
        beside = target.with_name(f".{target.name}.new")
        beside.write_text(text)
        beside.replace(target)


@dataclass(frozen=True, slots=True)
class Question:
    """A call with a check of its answer; `file` is the changing file it is about, if any."""

    tool: str
    arguments: dict[str, object]
    problem: Callable[[str], str]
    file: int | None = None

    @property
    def budget(self) -> int:
        """The token budget of the answer."""
        budget = self.arguments.get("max_tokens", DEFAULT_TOKENS)
        return budget if isinstance(budget, int) else DEFAULT_TOKENS


def questions(service: Service) -> list[Question]:
    """Return a mix of questions, with the expected answers where they are known."""
    return [*_exact(service), *_words(service), *_about_changes()]


def judge(question: Question, text: str, low: int, high: int) -> str:
    """Return what is wrong with an answer, or an empty text; `low` and `high` are versions before and after."""
    size = measure(text)
    if size.tokens > question.budget or size.chars > EFFECTIVE_CHARACTERS:
        return f"over budget: {size.tokens:,} tokens of {question.budget:,}"
    if question.file is None:
        return question.problem(text)
    found = {int(version) for version in _VERSION.findall(text)}
    if not found:
        return "" if "changing right now" in text else "no version at all"
    if len(found) > 1:
        return f"versions {sorted(found)} in one answer"
    return "" if low <= min(found) <= high else f"version {min(found)}, when there were {low} to {high}"


def _exact(service: Service) -> list[Question]:
    """Return questions whose answers don't depend on other files."""
    asked: list[Question] = []

    def add(tool: str, arguments: dict[str, object], right: str, beside_note: Collection[str] = ()) -> None:
        asked.append(Question(tool, arguments, _differs_from(right, beside_note)))

    for number in range(0, STABLE, 15):
        path = f"stable/part_{number}.py"
        add("map_file", {"path": path}, service.map_view(MapRequest(path)).text)
        add("read_file", {"path": path, "max_lines": 20}, service.read_view(ReadRequest((path,), max_lines=20)).text)
    for offset in range(0, STABLE, 100):
        tree = service.relation_view(TreeRequest("stable", offset=offset)).text
        add("get_tree", {"path": "stable", "offset": offset}, tree)
    for number in (3, 30, 100):
        path = f"stable/part_{number}.py"
        add("get_links", {"path": path}, service.relation_view(LinksRequest(path)).text)
        add("get_backlinks", {"path": path}, service.relation_view(BacklinksRequest(path)).text)
    pattern = r"/def weigh_\d*[37]\b/"
    for offset in range(0, 100, 10):
        request = SearchRequest(pattern, path="stable", offset=offset, detail_level=Detail.RICH, max_tokens=1_500)
        arguments = {"query": pattern, "path": "stable", "offset": offset, "detail_level": "rich", "max_tokens": 1_500}
        pages = _pages_with_less_room(service, request)
        add("search_code", arguments, pages[-1], pages)
    return asked


def _pages_with_less_room(service: Service, request: SearchRequest) -> list[str]:
    """Return the pages that a search may give beside a note, and last the one that it gives without."""
    most = request.max_tokens or DEFAULT_TOKENS

    def page(tokens: int) -> str:
        text = service.search_view(replace(request, max_tokens=tokens)).text
        return text.replace(f"Budget {tokens:,} tokens", f"Budget {most:,} tokens")

    def pages(low: int, at_low: str, high: int, at_high: str) -> list[str]:
        """Return the different pages from one budget to another, by halves: a larger budget never shows less."""
        if at_low == at_high:
            return [at_high]
        if high - low == 1:
            return [at_low, at_high]
        middle = (low + high) // 2
        at_middle = page(middle)
        return [*pages(low, at_low, middle, at_middle), *pages(middle, at_middle, high, at_high)]

    least = most - _NOTE_TOKENS
    return pages(least, page(least), most, page(most))


def _differs_from(right: str, beside_note: Collection[str] = ()) -> Callable[[str], str]:
    """Return a check for exactly one text; beside the note, which takes room, also for one of some others."""

    def problem(text: str) -> str:
        told, notes = _ABOUT_OTHERS.subn("", text)
        if told == right or (notes and told in beside_note):
            return ""
        pairs = zip(told.splitlines(), right.splitlines(), strict=False)
        first = next((pair for pair in pairs if pair[0] != pair[1]), (told[-80:], right[-80:]))
        return f"wrong page: {first[0]!r} instead of {first[1]!r}"

    return problem


def _words(service: Service) -> list[Question]:
    """Return questions whose results may change order as word frequencies change, but not their total."""
    asked = []
    for offset in range(0, 60, 20):
        request = SearchRequest("weigh total part", mode=Mode.KEYWORD, path="stable", limit=20, offset=offset)
        right = service.search_view(request).text
        arguments: dict[str, object] = {
            "query": request.query,
            "mode": "keyword",
            "path": "stable",
            "limit": 20,
            "offset": offset,
        }
        asked.append(Question("search_code", arguments, _other_total_than(right)))
    for detail in ("minimal", "rich"):
        small: dict[str, object] = {"query": "weigh the total", "detail_level": detail, "limit": 50}
        asked.append(Question("search_code", {**small, "max_tokens": 1_000, "format": Format.JSON.value}, lambda _: ""))
    asked.append(Question("index_status", {}, lambda text: "" if text.startswith("Workspace") else "no status"))
    return asked


def _other_total_than(right: str) -> Callable[[str], str]:
    def total(text: str) -> str:
        found = _TOTAL.search(text.splitlines()[0])
        return found[1] if found else "none"

    def problem(text: str) -> str:
        places = re.findall(r"(?m)^(stable/part_\d+\.py):\d+", text)
        if len(places) != 20 or len(set(places)) != 20:
            return f"wrong page: {len(set(places))} different files of {len(places)}"
        return "" if total(text) == total(right) else f"wrong page: a total of {total(text)}, not {total(right)}"

    return problem


def _about_changes() -> list[Question]:
    asked = []
    for number in range(CHANGING):
        path = f"changing/file_{number}.py"
        asked.append(Question("read_file", {"path": path}, lambda _: "", number))
        rich: dict[str, object] = {"query": f"changes_{number}", "path": path, "detail_level": "rich"}
        asked.append(Question("search_code", rich, lambda _: "", number))
    return asked


def settle(service: Service) -> None:
    """Index once, to get the expected answers."""
    # Files that changed very recently are not trusted, and are checked twice.
    time.sleep(0.1)
    service.index()
