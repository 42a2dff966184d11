"""Mine queries with known answers from the repositories of manifest.csv, to learn the ranking from.

    python bench/ranking/mine_queries.py [--clones FOLDER] [--workers N]

Writes to bench/.data/ranking: `trees/` has the files of each repository, without the doc comments that became queries;
`queries.jsonl` has the queries, and the written questions (questions.jsonl). Repositories that are already mined at
their commit are kept; --again mines them again.
"""

import argparse
import json
import re
import shutil
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache, partial
from itertools import chain, islice, pairwise, zip_longest
from pathlib import Path, PurePosixPath
from random import Random
from typing import NotRequired, TypedDict

from code_files import Definition, answer_files, definitions_in, is_answer, is_example
from doc_queries import blank, choose_comments
from history import Commit, read_history, read_tree
from name_queries import Named, ambiguous_names, owned_names, unique_names
from plain_queries import name_of_file, plain_queries
from repositories import CLONES, DATA, MANIFEST, QUESTIONS, Repository, git_directory, read_repositories
from sources import is_reserved_path
from subjects import query_of, telling_words
from text_queries import FoundText, choose_texts

from keyhole.core.syntax.languages import detect_language
from keyhole.core.syntax.spans import Span

SEED = 22
# The kinds of the written questions.
WRITTEN_KINDS = ("behaviour", "architecture")
MOST_COMMITS, MOST_COMMENTS, MOST_AMBIGUOUS, MOST_NAMES = 60, 30, 20, 10
MOST_TEXTS = 10
# More files than this in one commit are a sweep through the project.
MOST_TOUCHED, MOST_CODE_FILES = 12, 3
MOST_PER_FILE = 4
_ASKS_FOR_EXAMPLE = re.compile(r"example|demo|sample|tutorial|playground|benchmark|bench", re.IGNORECASE)


class Answer(TypedDict):
    """A file that answers a query, and where in it, if known."""

    path: str
    start_line: NotRequired[int]
    end_line: NotRequired[int]


class Question(TypedDict):
    """A question in plain words, written after reading the source at a commit, its best answer first."""

    repository: str
    commit: str
    kind: str
    query: str
    answers: list[Answer]


class MinedQuery(TypedDict):
    """A query with all its answers in one repository."""

    repository: str
    kind: str
    query: str
    answers: list[Answer]


def main() -> None:
    """Mine every listed repository and write all queries into one file."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--clones", type=Path, default=CLONES, help="folder of git clones, each named owner+name")
    options.add_argument("--manifest", type=Path, default=MANIFEST, help="the list of repositories")
    options.add_argument("--output", type=Path, default=DATA, help="folder for trees and queries")
    options.add_argument("--workers", type=int, default=2)
    options.add_argument("--again", action="store_true", help="mine repositories that are already mined, too")
    given = options.parse_args()
    repositories = read_repositories(given.manifest)
    mined = partial(mine, clones=given.clones, output=given.output, again=given.again)
    queries: list[MinedQuery] = []
    with ProcessPoolExecutor(given.workers) as pool:
        for found, new in zip(repositories, pool.map(mined, repositories), strict=True):
            queries += new + asked_of(found)
            print(f"{found.repository}: {dict(Counter(query['kind'] for query in new))}", flush=True)
    write_queries(given.output / "queries.jsonl", queries)
    print(f"{len(queries):,} queries: {dict(Counter(query['kind'] for query in queries))}")


def mine(found: Repository, *, clones: Path, output: Path, again: bool = False) -> list[MinedQuery]:
    """Return the queries of a repository; mine them and write the tree unless that is done."""
    stored = output / "mined" / f"{found.folder}@{found.commit[:12]}.jsonl"
    tree = output / "trees" / found.folder
    if again or not stored.exists() or not tree.exists():
        git = git_directory(found, clones)
        files = {path: content for path, content in read_tree(git, found.commit).items() if not is_reserved_path(path)}
        history = read_history(git, found.commit, frozenset(files))
        queries, blanked = queries_of(found.repository, files, history, asked_of(found))
        write_tree(tree, files | blanked)
        write_queries(stored, queries)
    return read_queries(stored)


def queries_of(
    repository: str, files: dict[str, bytes], history: Iterable[Commit], asked: Sequence[MinedQuery] = ()
) -> tuple[list[MinedQuery], dict[str, bytes]]:
    """Return the queries of a tree and its history, and the files without the comments that became queries.

    What answers a written question keeps its comment.
    """
    kept = [answer for query in asked for answer in query["answers"]]

    def random(kind: str) -> Random:
        return Random(f"{SEED} {repository} {kind}")

    definitions = list(definitions_in(files))
    commits = _spread(list(_commit_queries(history, files)), MOST_COMMITS, random("commit"))
    documented = [found for found in definitions if not any(_overlaps(found, answer) for answer in kept)]
    comments = list(islice(choose_comments(documented, files, random("comment")), MOST_COMMENTS))
    owned = owned_names(definitions, random("owner"))
    ambiguous = _alternating(ambiguous_names(definitions, random("ambiguous")), owned)
    names = unique_names(definitions, random("name"))
    groups: list[tuple[str, Iterable[tuple[str, list[Answer]]]]] = [
        ("commit", commits),
        ("comment", ((query, [_answer(found)]) for found, query in comments)),
        ("ambiguous name", islice(_sparing(map(_named, ambiguous)), MOST_AMBIGUOUS)),
        ("name", islice(map(_named, names), MOST_NAMES)),
        ("text", islice(map(_found_text, choose_texts(files, answer_files(files), random("text"))), MOST_TEXTS)),
        ("plain", _plain(commits, comments)),
    ]
    queries = [
        MinedQuery(repository=repository, kind=kind, query=query, answers=answers)
        for kind, group in groups
        for query, answers in group
    ]
    return queries, _blanked(files, [found for found, _ in comments])


def asked_of(found: Repository, path: Path = QUESTIONS) -> list[MinedQuery]:
    """Return the written questions about a repository, except those about another commit of it."""
    return [
        MinedQuery(repository=found.repository, kind=asked["kind"], query=asked["query"], answers=asked["answers"])
        for asked in read_questions(path)
        if (asked["repository"], asked["commit"]) == (found.repository, found.commit)
    ]


def _overlaps(found: Definition, answer: Answer) -> bool:
    first, last = answer.get("start_line", 1), answer.get("end_line", found.symbol.end_line)
    return found.path == answer["path"] and found.symbol.start_line <= last and found.symbol.end_line >= first


def _commit_queries(history: Iterable[Commit], files: dict[str, bytes]) -> Iterator[tuple[str, list[Answer]]]:
    """Yield the subjects of commits to one to three files of code that still exist, newest first."""
    prose = _letters(
        "\n".join(content.decode("utf-8", "replace") for path, content in files.items() if _is_prose(path))
    )
    answerable = answer_files(files)
    seen = set()
    for commit in history:
        code = [path for path in commit.old_paths if is_answer(path)]
        answers = sorted({path for path in commit.paths if path in answerable})
        if not 1 <= len(code) <= MOST_CODE_FILES or len(answers) != len(code) or len(commit.old_paths) > MOST_TOUCHED:
            continue
        query = "" if commit.author.endswith("[bot]") else query_of(commit.subject)
        letters = _letters(query)
        # A changelog that repeats the subject would be the best answer.
        if not query or letters in seen or letters[:40] in prose or not _is_answered(query, answers, commit, files):
            continue
        seen.add(letters)
        yield query, [Answer(path=path) for path in answers]


def _is_answered(query: str, answers: list[str], commit: Commit, files: dict[str, bytes]) -> bool:
    """Return whether the files of a commit still answer its subject, without being named in it."""
    if any(PurePosixPath(path).name.lower() in query.lower() for path in (*answers, *commit.old_paths)):
        return False
    if all(map(is_example, answers)) and not _ASKS_FOR_EXAMPLE.search(query):
        return False
    # If the files have no word of it, not even the start of one, they have changed too much or it says nothing.
    texts = [f"{path}\n{files[path].decode('utf-8', 'replace')}".lower() for path in answers]
    return any(word[:5] in text for word in telling_words(query) for text in texts)


def _plain(
    commits: list[tuple[str, list[Answer]]], comments: list[tuple[Definition, str]]
) -> Iterator[tuple[str, list[Answer]]]:
    """Yield the commits and comments again, as someone asks who doesn't know the names."""
    called = [(query, [name_of_file(answer["path"]) for answer in answers]) for query, answers in commits]
    called += [(query, [name_of_file(found.path), found.symbol.name, found.owner]) for found, query in comments]
    answers = [*(answers for _, answers in commits), *([_answer(found)] for found, _ in comments)]
    known = {query for query, _ in called}
    for query, own in zip(plain_queries(called), answers, strict=True):
        if query and query not in known:
            yield query, own


def _found_text(found: FoundText) -> tuple[str, list[Answer]]:
    return found.query, [Answer(path=found.path, start_line=found.line, end_line=found.line)]


def _is_prose(path: str) -> bool:
    return not detect_language(path, "").is_code


def _letters(text: str) -> str:
    return re.sub(r"[^a-z]+", "", text.lower())


def _spread(found: list[tuple[str, list[Answer]]], most: int, random: Random) -> list[tuple[str, list[Answer]]]:
    """Choose queries evenly over the history, with few for the same file."""
    positions = {query: position for position, (query, _) in enumerate(found)}
    files = {answer["path"] for _, answers in found for answer in answers}
    # A small project has few files, so each may have more queries.
    most_per_file = max(MOST_PER_FILE, most // max(1, len(files)))
    kept = sorted(_sparing(random.sample(found, len(found)), most_per_file), key=lambda pair: positions[pair[0]])
    if len(kept) <= most:
        return kept
    edges = [round(number * len(kept) / most) for number in range(most + 1)]
    return [random.choice(kept[start:end]) for start, end in pairwise(edges)]


def _sparing(
    found: Iterable[tuple[str, list[Answer]]], most_per_file: int = MOST_PER_FILE
) -> Iterator[tuple[str, list[Answer]]]:
    """Yield the queries, except further ones for a file that already has many."""
    used: Counter[str] = Counter()
    for query, answers in found:
        paths = {answer["path"] for answer in answers}
        if all(used[path] < most_per_file for path in paths):
            used.update(paths)
            yield query, answers


def _alternating(first: Iterator[Named], second: Iterator[Named]) -> Iterator[Named]:
    return (found for found in chain.from_iterable(zip_longest(first, second)) if found is not None)


def _named(found: Named) -> tuple[str, list[Answer]]:
    return found.query, [_answer(definition) for definition in found.answers]


def _answer(found: Definition) -> Answer:
    return Answer(path=found.path, start_line=found.symbol.start_line, end_line=found.symbol.end_line)


def _blanked(files: dict[str, bytes], chosen: Iterable[Definition]) -> dict[str, bytes]:
    spans: dict[str, list[Span]] = defaultdict(list)
    for found in chosen:
        if found.doc:
            spans[found.path].append(found.doc)
    return {path: blank(files[path], found) for path, found in spans.items()}


def write_tree(folder: Path, files: dict[str, bytes]) -> None:
    """Write the files of a tree in place of an older one."""
    partial = folder.with_name(f"{folder.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    for path, content in files.items():
        place = partial / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
    shutil.rmtree(folder, ignore_errors=True)
    partial.rename(folder)


def write_queries(path: Path, queries: Iterable[MinedQuery]) -> None:
    """Write queries, one on each line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".partial")
    partial.write_text("".join(json.dumps(query, ensure_ascii=False) + "\n" for query in queries))
    partial.rename(path)


@cache
def read_questions(path: Path = QUESTIONS) -> list[Question]:
    """Read the written questions."""
    with path.open() as stream:
        return list(map(json.loads, stream))


def read_queries(path: Path = DATA / "queries.jsonl") -> list[MinedQuery]:
    """Read the mined queries."""
    with path.open() as stream:
        return list(map(json.loads, stream))


if __name__ == "__main__":
    main()
