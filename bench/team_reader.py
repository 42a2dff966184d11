"""An agent that asks a team's server about all repositories all the time, and keeps what each answer contains."""

import http.client
import re
import threading
import time
from collections import defaultdict
from dataclasses import dataclass, field

from load import Ask, http_agent

MARK = "revision"
_MARKS = re.compile(rf"{MARK} (\d+) of (\w+)")
_PAUSE_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class Answer:
    """The revisions of each repository in one answer, or the error that came instead, also of the network."""

    tool: str
    revisions: dict[str, tuple[int, ...]] = field(default_factory=dict)
    error: str = ""
    is_away: bool = False


class TeamReader(threading.Thread):
    """Asks until it is stopped; the server may be killed and started again at the same address."""

    def __init__(self, address: str, secret: str, repositories: tuple[str, ...]) -> None:
        super().__init__(daemon=True)
        self.answers: list[Answer] = []
        self._address = address
        self._headers = {"Authorization": f"Bearer {secret}"}
        self._ended = threading.Event()
        paths = [f"{name}/file{number}.py" for name in repositories for number in (0, 5, 9)]
        self._calls: tuple[tuple[str, dict[str, object]], ...] = (
            ("search_code", {"query": f"/{MARK} [0-9]+ of/", "limit": 50}),
            ("search_code", {"query": MARK, "mode": "keyword", "limit": 50, "detail_level": "rich"}),
            ("read_file", {"paths": paths, "max_lines": 2}),
        )

    def stop(self) -> None:
        """End the thread after the current call."""
        self._ended.set()
        self.join()

    def run(self) -> None:
        """Ask one call after the other."""
        ask = http_agent(self._address, self._headers)
        while not self._ended.is_set():
            for tool, arguments in self._calls:
                answer = _answer(ask, tool, arguments)
                if answer.is_away:
                    ask = http_agent(self._address, self._headers)
                self.answers.append(answer)
                time.sleep(_PAUSE_SECONDS)


def _answer(ask: Ask, tool: str, arguments: dict[str, object]) -> Answer:
    try:
        answer = ask(tool, arguments)
    except (OSError, http.client.HTTPException) as error:
        return Answer(tool, error=f"{type(error).__name__}: {error}", is_away=True)
    result = answer.get("result")
    if not isinstance(result, dict):
        return Answer(tool, error=str(answer.get("error", answer)))
    text = str(result["content"][0]["text"])
    return Answer(tool, error=text) if result.get("isError") else Answer(tool, _revisions(text))


def _revisions(text: str) -> dict[str, tuple[int, ...]]:
    found: dict[str, set[int]] = defaultdict(set)
    for number, name in _MARKS.findall(text):
        found[name].add(int(number))
    return {name: tuple(sorted(numbers)) for name, numbers in found.items()}
