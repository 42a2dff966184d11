"""Measure what answers cost an agent: tokens and calls of ripgrep and sed, and of Keyhole, for the same questions.

    .venv/bin/python bench/agents.py [--check]

Questions, facts and ripgrep's commands are in bench/agents/questions.toml. An agent takes one step after another and
stops as soon as the answers so far hold every fact of the question; each step is one call, and only answers are
counted, with Keyhole's own estimate of tokens.

ripgrep's steps: `rg -n NAME [PATH]`, then `sed -n` of 20 lines around at most three hits. The hits are those that an
agent would choose when it reads ripgrep's lines; they are fixed in the file, before Keyhole was asked. The class of a
question about a class is read as a whole, if ripgrep can't list its methods by a keyword. A name that more than 100
lines contain is narrowed, as an agent would do.

ripgrep is the Debian package below, fetched once into bench/.data; Keyhole itself doesn't need it.
"""

import argparse
import re
import subprocess
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NotRequired, TypedDict

from corpus import fetch_project, load_projects
from record import HERE

from keyhole.core.view.budget.tokens import estimate_tokens

QUESTIONS = HERE / "agents" / "questions.toml"
RIPGREP = {"name": "ripgrep", "source": "debian-package", "version": "13.0.0-4+b2", "folder": "usr/bin"}
KINDS = ("exact", "enumerating", "concept", "imports and classes")
LINES_BEFORE = 10
LINES_READ = 20
MAX_OPENED = 3


class RgCommand(TypedDict):
    """What to search for with ripgrep, in the whole project or in one path."""

    name: str
    path: NotRequired[str]


class Question(TypedDict):
    """A question, the facts that answer it, and how an agent with ripgrep finds them."""

    project: str
    kind: str
    ask: str
    facts: list[str]
    rg: list[RgCommand]
    open: NotRequired[list[str]]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the steps to an answer cost, and the facts that are still missing after the last one."""

    tokens: int
    calls: int
    missing: tuple[str, ...]


def main() -> None:
    """Check the questions against the sources, or print what ripgrep's answers cost."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--check", action="store_true", help="only compare the facts with the sources")
    chosen = options.parse_args()
    questions, roots = load_questions(), fetch_all()
    if problems := [problem for question in questions for problem in check(question, roots[question["project"]])]:
        raise SystemExit("\n".join(problems))
    print(f"{len(questions)} questions, every fact is true")
    if not chosen.check:
        rg = fetch_project(RIPGREP) / "rg"
        for question in questions:
            cost = follow(rg_steps(question, roots[question["project"]], rg), question["facts"])
            print(f"{question['kind']:<20}{cost.tokens:>6}{cost.calls:>3}  {question['ask'][:70]} {cost.missing or ''}")


def load_questions() -> list[Question]:
    """Read the questions."""
    questions: list[Question] = tomllib.loads(QUESTIONS.read_text())["question"]
    return questions


def agent_projects() -> list[dict[str, str]]:
    """Return the projects that the questions are about; a project without a version is one of bench/quality."""
    known = {project["name"]: project for project in load_projects()}
    listed: list[dict[str, str]] = tomllib.loads(QUESTIONS.read_text())["project"]
    return [project if "version" in project else known[project["name"]] for project in listed]


def fetch_all() -> dict[str, Path]:
    """Fetch the projects, and return the folder of each."""
    return {project["name"]: fetch_project(project).resolve() for project in agent_projects()}


def check(question: Question, root: Path) -> Iterator[str]:
    """Yield the facts that the sources don't confirm, and the lines to read that don't exist."""
    texts = [path.read_text(errors="replace") for path in files_of(question, root)]
    for fact in question["facts"]:
        path, _, line = fact.rpartition(":")
        if is_place(fact):
            if not confirms(root / path, int(line), question["rg"]):
                yield f"{question['ask']} Nothing that rg finds is at {fact}."
        elif not (root / fact).is_file() and not any(mentions(text, fact) for text in texts):
            yield f"{question['ask']} {fact!r} is in none of its files."
    for place in question.get("open", []):
        path, first, last = line_range(place)
        if len((root / path).read_text().splitlines()) < first or last - first > 200:
            yield f"{question['ask']} {place} can't be read."


def files_of(question: Question, root: Path) -> Iterator[Path]:
    """Yield the files that a question's facts, commands and lines name."""
    named = [fact.rpartition(":")[0] if is_place(fact) else fact for fact in question["facts"]]
    named += [line_range(place)[0] for place in question.get("open", [])]
    named += [command.get("path", "") for command in question["rg"]]
    found = [root / name for name in named if name and (root / name).is_file()]
    yield from found or (path for path in root.rglob("*.*") if path.suffix in {".py", ".js", ".go", ".rs"})


def confirms(path: Path, line: int, commands: list[RgCommand]) -> bool:
    """Return whether a line exists and one of the patterns matches it."""
    lines = path.read_text().splitlines()
    return line <= len(lines) and any(re.search(command["name"], lines[line - 1]) for command in commands)


def is_place(fact: str) -> bool:
    """Return whether a fact is a line of a file."""
    return re.fullmatch(r"[\w./-]+:\d+", fact) is not None


def mentions(text: str, words: str) -> bool:
    """Return whether a text contains words that are not part of longer ones."""
    before = r"(?<!\w)" if re.match(r"\w", words) else ""
    after = r"(?!\w)" if re.search(r"\w$", words) else ""
    return re.search(f"{before}{re.escape(words)}{after}", text) is not None


def line_range(place: str) -> tuple[str, int, int]:
    """Return the path and the first and last line to read for "path:line" or "path:first-last"."""
    path, _, lines = place.rpartition(":")
    first, dash, last = lines.partition("-")
    if dash:
        return path, int(first), int(last)
    start = max(1, int(first) - LINES_BEFORE)
    return path, start, start + LINES_READ - 1


def follow(answers: Iterator[str], facts: list[str]) -> Outcome:
    """Take steps until the answers hold every fact."""
    tokens, calls, seen, missing = 0, 0, "", tuple(facts)
    for answer in answers:
        tokens, calls, seen = tokens + estimate_tokens(answer), calls + 1, f"{seen}\n{answer}"
        missing = tuple(fact for fact in facts if not holds(seen, fact))
        if not missing:
            break
    return Outcome(tokens, calls, missing)


def holds(text: str, fact: str) -> bool:
    """Return whether answers contain a fact."""
    return mentions(text, fact)


def rg_steps(question: Question, root: Path, rg: Path) -> Iterator[str]:
    """Yield the answers of ripgrep and sed, in order."""
    for command in question["rg"]:
        # Sorted, because the order of several threads differs from run to run; no settings from outside the project.
        settings = ["--no-config", "--no-ignore-parent", "--sort", "path"]
        paths = [command["path"]] if "path" in command else []
        yield run([str(rg), *settings, "-n", "--", command["name"], *paths], root)
    for place in question.get("open", []):
        path, first, last = line_range(place)
        yield run(["sed", "-n", f"{first},{last}p", path], root)


def run(command: list[str], folder: Path) -> str:
    """Run a command as an agent's shell does, and return what it prints."""
    done = subprocess.run(command, check=False, cwd=folder, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode > 1:
        raise SystemExit(f"{command} failed: {done.stderr}")
    return done.stdout


if __name__ == "__main__":
    main()
