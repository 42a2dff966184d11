"""Check the labels: their places exist and fit the kind of the query, and half of the projects are held out.

Plain-word queries share no names with their answers, a member belongs to the owner that the query names,
and a quoted text occurs nowhere but in its answers.

.venv/bin/python bench/check_labels.py
"""

import re
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import combinations
from pathlib import Path

from corpus import Answer, Query, fetch_project, load_projects, load_queries

KINDS = ("symbol", "behaviour", "architecture", "string", "owner member", "exact text")
PLAIN = ("behaviour", "architecture")
SPLITS = ("tune", "held-out")
PER_PROJECT = 3
TOTAL = 300
MIN_PROJECTS = 16
MIN_LANGUAGES = 10
MAX_FILES = 600
MAX_ANSWERS = 3
DEFINITION_LINES = 3
STOP_WORDS = frozenset(
    re.findall(
        r"\w+",
        "where what which does code file when with from into that this have been made used each only they then them",
    )
)
# How the projects' languages declare names; each group is a name.
DEFINITIONS = (
    re.compile(r"\b(?:class|interface|struct|enum|trait|impl|type|def|fn|function|const|let|var)\s+(\w+)"),
    re.compile(r"\bfunc\s+(?:\(\w+\s+\*?(\w+)\)\s*)?(\w+)"),
    re.compile(r"(\w+)\.prototype\.(\w+)"),
    re.compile(r"#define\s+(\w+)"),
    re.compile(r"^\s*(\w+)\s*(?::[^=]*)?="),
    re.compile(r"^[^=;(]*?(\w+)\s*(?:<[^()]*>)?\("),
    re.compile(r"^(?:data|newtype)\s+(\w+)|^\s*(\w+)\s+::"),
)
OWNERS = (
    re.compile(r"\b(?:class|interface|enum|struct|trait|impl(?:<.*>)?)\s+(\w+)"),
    re.compile(r"\bimpl\b.*\bfor\s+(\w+)"),
)
# What C++ and C write at the depth of the owner, inside it.
UNINDENTED = re.compile(r"\s*(?:(?:public|protected|private):|#)")
QUOTED = re.compile(r'"(.+)"')
WORD_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


def name_parts(name: str) -> set[str]:
    """Split a name at case changes, underscores and dashes; the full name is one of the parts."""
    return {name.lower(), *(part.lower() for part in WORD_PARTS.findall(name))}


def stem(word: str) -> str:
    """Remove the most common English endings, so that "retries" matches "retry"."""
    word = re.sub(r"ies$", "y", word.lower())
    return re.sub(r"(?<=\w{3})(?:es|s|ed|ing)$", "", word)


def answer_names(lines: list[str], answer: Answer) -> set[str]:
    """Return the names of an answer: those it declares, those of its owner, and its file's."""
    start = answer["start_line"] - 1
    head = lines[start : min(start + DEFINITION_LINES, answer["end_line"])]
    declared = {
        name for line in head for pattern in DEFINITIONS if (match := pattern.search(line)) for name in match.groups()
    }
    names = {*(name for name in declared if name), *owners(lines, start), Path(answer["path"]).stem}
    return {part for name in names for part in name_parts(name)}


def owners(lines: list[str], start: int) -> Iterator[str]:
    """Return the names of the types around a line, by indentation."""
    depth = indentation(lines[start])
    for line in reversed(lines[:start]):
        if line.strip() and indentation(line) < depth and not UNINDENTED.match(line):
            depth = indentation(line)
            yield from (match[1] for pattern in OWNERS if (match := pattern.search(line)))


def indentation(line: str) -> int:
    """Return the indentation of a line."""
    return len(line) - len(line.lstrip())


def shared_words(query: str, names: set[str]) -> set[str]:
    """Return the words of a query that are also names, except short and very common words."""
    words = {word.lower() for word in re.findall(r"[^\W\d_]+", query)}
    stems = {stem(name) for name in names if len(name) > 3}
    return {word for word in words if len(word) > 3 and word not in STOP_WORDS and stem(word) in stems}


def squeeze(text: str) -> str:
    """Normalise what people misremember about a name: case, underscores, dashes and spaces."""
    return re.sub(r"[_\-\s]", "", text.lower())


def check_query(query: Query, root: Path) -> Iterator[str]:
    """Yield what is wrong with one query."""
    if not 1 <= len(query["answers"]) <= MAX_ANSWERS:
        yield f"has {len(query['answers'])} answers"
    for answer in query["answers"]:
        yield from check_answer(query, answer, root)
    if query["kind"] == "exact text":
        yield from check_occurrences(query, root)


def check_answer(query: Query, answer: Answer, root: Path) -> Iterator[str]:
    """Yield what is wrong with one place."""
    path = root / answer["path"]
    if not path.is_file():
        yield f"no file {answer['path']}"
        return
    lines = path.read_text().splitlines()
    if not 1 <= answer["start_line"] <= answer["end_line"] <= len(lines):
        yield f"{answer['path']} has no lines {answer['start_line']}-{answer['end_line']}"
        return
    yield from check_text(query, answer, lines)


def check_text(query: Query, answer: Answer, lines: list[str]) -> Iterator[str]:
    """Compare the words of a query with the text of its answer, as its kind requires."""
    text = "\n".join(lines[answer["start_line"] - 1 : answer["end_line"]])
    place = f"{answer['path']}:{answer['start_line']}"
    if query["kind"] in PLAIN:
        if shared := shared_words(query["query"], answer_names(lines, answer)):
            yield f"shares {', '.join(sorted(shared))} with {place}"
    elif query["kind"] in ("string", "exact text"):
        if literal(query) not in text:
            yield f"does not occur at {place}"
    elif not lines[answer["start_line"] - 1].strip() or not declares(query["query"], text):
        yield f"is not declared at {place}"
    elif query["kind"] == "owner member" and not belongs(query["query"], answer, lines):
        yield f"names another owner than {place} has"


def literal(query: Query) -> str:
    """Return the text that a query looks for: what is between the quotes of an exact text."""
    match = QUOTED.fullmatch(query["query"])
    return match[1] if match and query["kind"] == "exact text" else query["query"]


def belongs(query: str, answer: Answer, lines: list[str]) -> bool:
    """Return whether a member's type, file or folder has the name that stands before the member in a query."""
    owner, _, member = query.rpartition(" ")
    start, path = answer["start_line"] - 1, Path(answer["path"])
    head = lines[start : start + DEFINITION_LINES]
    # Go and C++ write the owner in front of the member's name.
    before = re.findall(r"\w+", text_before(head, member))
    names = {*owners(lines, start), *before, path.name.split(".")[0], path.parent.name}
    return squeeze(owner) in {squeeze(name) for name in names}


def text_before(head: list[str], member: str) -> str:
    """Return the text before a member in the line that declares it."""
    pattern = re.compile(rf"(.*?)\b{re.escape(member)}\b", re.IGNORECASE)
    return next((match[1] for line in head if (match := pattern.search(line))), "")


def check_occurrences(query: Query, root: Path) -> Iterator[str]:
    """Yield where an exact text occurs outside its answers, and whether it is one."""
    if not QUOTED.fullmatch(query["query"]):
        yield "has no quotes around it"
        return
    for path, number in occurrences(root, literal(query)):
        if not any(a["path"] == path and a["start_line"] <= number <= a["end_line"] for a in query["answers"]):
            yield f"also occurs at {path}:{number}"


def occurrences(root: Path, text: str) -> Iterator[tuple[str, int]]:
    """Return the files and lines of a project that have a text."""
    for path, lines in project_lines(root).items():
        yield from ((path, number) for number, line in enumerate(lines, 1) if text in line)


@cache
def project_lines(root: Path) -> dict[str, list[str]]:
    """Read all files of a project."""
    files = sorted(path for path in root.rglob("*") if path.is_file())
    return {path.relative_to(root).as_posix(): path.read_text(errors="replace").splitlines() for path in files}


def declares(symbol: str, text: str) -> bool:
    """Return whether the first lines of a text declare a name, in any spelling."""
    name = re.split(r"\.|::| ", symbol)[-1]
    head = "\n".join(text.splitlines()[:DEFINITION_LINES])
    return squeeze(name) in {squeeze(word) for word in re.findall(r"\w+", head)}


def check_sets(queries: list[Query], projects: list[dict[str, str]]) -> Iterator[str]:
    """Yield what is wrong with the labels as a whole."""
    if len(queries) < TOTAL:
        yield f"{len(queries)} queries, fewer than {TOTAL}"
    counts = Counter((query["project"], query["kind"]) for query in queries)
    for project in projects:
        for kind in KINDS:
            if counts[project["name"], kind] < PER_PROJECT:
                yield f"{project['name']} has {counts[project['name'], kind]} of kind {kind}"
    if known := set(counts) - {(project["name"], kind) for project in projects for kind in KINDS}:
        yield f"unknown project or kind: {sorted(known)}"
    yield from check_projects(projects)
    yield from check_duplicates(queries)


def check_projects(projects: list[dict[str, str]]) -> Iterator[str]:
    """Yield what is wrong with the choice of projects."""
    languages = {project["language"] for project in projects}
    if len(projects) < MIN_PROJECTS or len(languages) < MIN_LANGUAGES:
        yield f"{len(projects)} projects in {len(languages)} languages, fewer than {MIN_PROJECTS} in {MIN_LANGUAGES}"
    split = Counter(project["split"] for project in projects)
    if set(split) != set(SPLITS) or split["tune"] != split["held-out"]:
        yield f"not half of the projects are held out: {dict(split)}"


def check_duplicates(queries: list[Query]) -> Iterator[str]:
    """Yield queries and answers that occur twice."""
    for one, other in combinations(queries, 2):
        if one["project"] == other["project"]:
            if one["query"].lower() == other["query"].lower():
                yield f"{one['query']!r} occurs twice"
            if any(answer in other["answers"] for answer in one["answers"]):
                yield f"{one['query']!r} and {other['query']!r} have the same answer"


def print_summary(queries: list[Query], projects: list[dict[str, str]], files: dict[str, int]) -> None:
    """Print the number of queries by project, split and kind."""
    counts = Counter((query["project"], query["kind"]) for query in queries)
    print(f"{'project':12}{'language':12}{'split':10}{'files':>6}" + "".join(f"{kind:>14}" for kind in KINDS))
    for project in projects:
        name = project["name"]
        cells = "".join(f"{counts[name, kind]:14}" for kind in KINDS)
        print(f"{name:12}{project['language']:12}{project['split']:10}{files[name]:6}{cells}")
    for split in SPLITS:
        names = [project["name"] for project in projects if project["split"] == split]
        cells = "".join(f"{sum(counts[name, kind] for name in names):14}" for kind in KINDS)
        print(f"{'all':12}{'':12}{split:10}{sum(files[name] for name in names):6}{cells}")


def main() -> int:
    """Check all labels and print what is wrong, then the summary."""
    projects, queries = load_projects(), load_queries()
    roots = {project["name"]: fetch_project(project) for project in projects}
    files = {name: sum(path.is_file() for path in root.rglob("*")) for name, root in roots.items()}
    problems = [*check_sets(queries, projects), *(f"{n}: {c} files" for n, c in files.items() if c > MAX_FILES)]
    for query in queries:
        found = check_query(query, roots[query["project"]])
        problems += [f"{query['project']}, {query['query']!r}: {problem}" for problem in found]
    print("\n".join(problems) or f"{len(queries)} queries, no problems")
    print_summary(queries, projects, files)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
