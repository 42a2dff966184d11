"""A process that asks about a team's repositories all the time, and writes down what each answer contains.

    python bench/team_reader.py URL FILE

Each line of FILE is JSON: the revisions of each repository in one answer, or the error instead of an answer.
"""

import json
import re
import sys
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

MARK = "revision"
_MARKS = re.compile(rf"{MARK} (\d+) of (\w+)")
# What an error says while the database is away, or was away during an answer.
CLEAR = (r"cannot use the database postgresql://", r"the database reports an error", r"the database cancelled")
_PAUSE_SECONDS = 0.05


def read_lines(path: Path) -> list[dict[str, Any]]:
    """Return what was written down; the last line may be only half written when the reader was killed."""
    found = []
    for line in path.read_text().splitlines() if path.exists() else []:
        try:
            facts = json.loads(line)
        except ValueError:
            continue
        facts["revisions"] = {name: tuple(numbers) for name, numbers in facts.get("revisions", {}).items()}
        found.append(facts)
    return found


def main() -> None:
    """Ask until killed."""
    from keyhole.core.config import load_settings
    from keyhole.core.errors import KeyholeError
    from keyhole.core.team.team_database import NamedRepository, team_database
    from keyhole.core.team.team_service import TeamService
    from keyhole.core.types.view_requests import ReadRequest, SearchRequest

    url, path = sys.argv[1], Path(sys.argv[2])
    with team_database(url) as db:
        rows = db.execute("SELECT id, name FROM repository ORDER BY name").fetchall()
    repositories = [NamedRepository(*row) for row in rows]
    service = TeamService(repositories, load_settings(Path("/"), {}))
    paths = tuple(f"{repository.name}/file{number}.py" for repository in repositories for number in (0, 5, 9))
    views = {
        "regex": lambda: service.search_view(SearchRequest(f"/{MARK} [0-9]+ of/", limit=50)),
        "keyword": lambda: service.search_view(SearchRequest(MARK, mode="keyword", limit=50, detail_level="rich")),
        "read": lambda: service.read_view(ReadRequest(paths, max_lines=2)),
    }
    while True:
        for name, view in views.items():
            line: dict[str, Any] = {"view": name}
            try:
                line["revisions"] = _revisions(view().text)
            except KeyholeError as error:
                line["error"] = str(error)
            with path.open("a") as file:
                file.write(json.dumps(line) + "\n")
            time.sleep(_PAUSE_SECONDS)


def _revisions(text: str) -> dict[str, list[int]]:
    found: dict[str, set[int]] = defaultdict(set)
    for number, name in _MARKS.findall(text):
        found[name].add(int(number))
    return {name: sorted(numbers) for name, numbers in found.items()}


if __name__ == "__main__":
    main()
