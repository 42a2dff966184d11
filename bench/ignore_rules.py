"""Compare our ignore rules and pathspec: which agrees with git, and how long a walk takes with each.

    .venv/bin/python bench/ignore_rules.py [--tree FOLDER] [--rules FOLDER] [--record]

Both run alternately on the same tree. The default tree is the source distribution of Django 5.2, fetched once with pip.
Agreement is measured only with --rules, a folder with real .gitignore files at any depth: for each of them, the
benchmark creates files with names that its patterns may match, and asks git which of them are ignored.
"""

import argparse
import random
import re
import statistics
import subprocess
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from unittest import mock

from pathspec import GitIgnoreSpec
from pathspec.patterns.gitignore import GitIgnorePatternError
from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern
from record import fetch_sdist, save_record

from keyhole.core.files import ignore
from keyhole.core.files.ignore import RuleFile
from keyhole.core.files.patterns import PatternList
from keyhole.core.files.walk import scan

TURNS = 15
MAX_BYTES = 1_000_000
NAMES = ("a", "b.py", "Main.c", "x y", "build", "data.txt", ".hidden")
WILDCARD = re.compile(r"\\.|\[[!^]?\]?[^\]]*\]|\*\*|\*|\?", re.DOTALL)


class PathspecList:
    """A replacement for PatternList that uses pathspec with its RE2 backend."""

    def __init__(self, lines: list[str]) -> None:
        with warnings.catch_warnings(action="ignore"):
            self._spec = GitIgnoreSpec([_pattern(line) for line in lines], backend="re2")

    def last_match(self, path: str, *, is_dir: bool) -> tuple[int, bool] | None:
        """Return the line that decides about a path, and whether the path is ignored."""
        found = self._spec.check_file(f"{path}/" if is_dir else path)
        return None if found.index is None or found.include is None else (found.index, found.include)


def _pattern(line: str) -> GitIgnoreSpecPattern:
    """Compile one line; a line that pathspec rejects matches nothing, instead of ending the run."""
    with suppress(GitIgnorePatternError, re.error):
        return GitIgnoreSpecPattern(line)
    return GitIgnoreSpecPattern("")


MATCHERS = {"ours": PatternList, "pathspec": PathspecList}


def main() -> None:
    """Measure, print a table, and with --record store the result."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--tree", type=Path, help="the folder to walk")
    options.add_argument("--rules", type=Path, help="a folder with .gitignore files")
    options.add_argument("--record", action="store_true", help="store the result under bench/records")
    chosen = options.parse_args()
    figures = walk_times((chosen.tree or fetch_sdist("django", "5.2")).resolve())
    if chosen.rules:
        figures |= agreement(chosen.rules)
    for name, figure in figures.items():
        print(f"{name:<55}{figure:>12,.3f}")
    if chosen.record:
        print("recorded as", save_record("ignore-rules", figures))


def walk_times(tree: Path) -> dict[str, float]:
    """Time a first walk of a tree, alternately with each matcher."""
    times: dict[str, list[float]] = {name: [] for name in MATCHERS}
    for _ in range(TURNS):
        for name in MATCHERS:
            with matching_by(name):
                started = time.perf_counter()
                found = scan(tree, max_bytes=MAX_BYTES)
                times[name].append(time.perf_counter() - started)
    best = {name: min(seconds) for name, seconds in times.items()}
    pairs = zip(times["pathspec"], times["ours"], strict=True)
    return {
        "files of the walk": float(len(found.candidates)),
        **{f"walk with {name}, ms": seconds * 1e3 for name, seconds in best.items()},
        "walk with pathspec against ours, best of each": best["pathspec"] / best["ours"],
        "walk with pathspec against ours, middle of the turns": statistics.median(new / old for new, old in pairs),
    }


@contextmanager
def matching_by(name: str) -> Iterator[None]:
    """Compile rule files with one of the matchers."""
    with mock.patch.object(ignore, "PatternList", MATCHERS[name]):
        ignore.load_default_rules.cache_clear()
        ignore.load_default_rules()
        yield
    ignore.load_default_rules.cache_clear()


def agreement(rules: Path) -> dict[str, float]:
    """Count the rule files and the paths for which a matcher disagrees with git."""
    files = sorted(path for path in rules.rglob("*gitignore") if path.is_file())
    wrong_files, wrong_paths, paths = dict.fromkeys(MATCHERS, 0), dict.fromkeys(MATCHERS, 0), 0
    for number, path in enumerate(files):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            content = path.read_bytes()
            paths += make_tree(root, content.decode("utf-8", "replace"), random.Random(number))
            (root / ".git/info/exclude").write_bytes(content)
            expected = kept_by_git(root)
            for name in MATCHERS:
                with matching_by(name):
                    different = expected ^ kept_by_rules(root, RuleFile("", "", content.decode("utf-8", "replace")))
                wrong_files[name] += bool(different)
                wrong_paths[name] += len(different)
                for one in sorted(different)[:2]:
                    print(f"{path.relative_to(rules)}: {name} is wrong about {one!r}")
    return {
        "rule files": float(len(files)),
        "paths asked about": float(paths),
        **{f"rule files that {name} reads in another way": float(count) for name, count in wrong_files.items()},
        **{f"paths that {name} is wrong about": float(count) for name, count in wrong_paths.items()},
    }


def make_tree(root: Path, rules: str, chance: random.Random) -> int:
    """Create files with names that the patterns may match, and others next to them."""
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    wanted = set(NAMES)
    for line in rules.splitlines():
        name = WILDCARD.sub(lambda match: filled(match.group(), chance), line.strip().lstrip("!").strip("/"))
        if name and not line.startswith("#"):
            wanted |= {name, name.swapcase(), f"{name}.x", f"sub/{name}", f"{name}/{chance.choice(NAMES)}"}
            wanted |= {f"{name}/deep/a", f"sub/{name.partition('/')[0]}/{chance.choice(NAMES)}"}
    made = 0
    for path in sorted(wanted, key=lambda path: (chance.random(), path)):
        # A name may already be taken by a file, or be too long.
        with suppress(OSError, ValueError):
            if ".git" not in path.split("/"):
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).touch(exist_ok=False)
                made += 1
    return made


def filled(wildcard: str, chance: random.Random) -> str:
    """Replace wildcards with text that they may match."""
    if wildcard.startswith("\\"):
        return wildcard[1]
    if wildcard.startswith("["):
        return chance.choice(wildcard[1:-1].strip("!^") or "x")
    return {"**": chance.choice(["one", "one/two"]), "*": chance.choice(["", "any", "Z.1"]), "?": "q"}[wildcard]


def kept_by_git(root: Path) -> set[str]:
    """Return the paths that git does not ignore."""
    command = ["git", "-c", "core.excludesFile=", "ls-files", "--others", "--exclude-standard", "-z"]
    listed = subprocess.run(command, cwd=root, capture_output=True, check=True).stdout.decode()
    return set(filter(None, listed.split("\0")))


def kept_by_rules(root: Path, rules: RuleFile) -> set[str]:
    """Return the paths that a rule file does not ignore, folder by folder as in a walk."""
    kept, pending = set[str](), [root]
    while pending:
        for entry in pending.pop().iterdir():
            path, is_dir = entry.relative_to(root).as_posix(), entry.is_dir()
            verdict = rules.decide(path, is_dir=is_dir)
            if path == ".git" or (verdict and verdict[0]):
                continue
            if is_dir:
                pending.append(entry)
            else:
                kept.add(path)
    return kept


if __name__ == "__main__":
    main()
