"""Measure `keyhole check`: 100 checks on 2,000 files with a warm index, as one process from start to end.

    .venv/bin/python bench/checks.py [--record] [--rounds N]

The files are the first 2,000 Python files of Django 5.2, fetched once with pip. The checks are of all kinds that need
no other server: names and phrases that must find a file, facts, maps, answers for clients, tool lists, links, forbidden
texts. Not all are meant to pass, but at least half of them must, so that they do not all end early.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from record import fetch_sdist, save_record

FILES, CHECKS, MOST_SECONDS = 2_000, 100, 10.0
ROUNDS = 5
PHRASES = {
    "validate the password of a user": "contrib/auth/password_validation.py",
    "cache middleware for views": "middleware/cache.py",
    "run migrations in order": "db/migrations/executor.py",
    "serialize a queryset to JSON": "core/serializers/json.py",
    "csrf token in a form": "middleware/csrf.py",
    "send an email with attachments": "core/mail/message.py",
    "translate a string lazily": "utils/translation/__init__.py",
    "resolve a URL to a view": "urls/resolvers.py",
    "render a template with a context": "template/base.py",
    "store uploaded files": "core/files/storage/filesystem.py",
}


def main() -> None:
    """Measure, print the figures, and with --record store them."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--record", action="store_true", help="store the result under bench/records")
    options.add_argument("--rounds", type=int, default=ROUNDS, help="runs with a warm index")
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        root = copy_files(Path(scratch) / "django")
        environment = {**os.environ, "KEYHOLE_CACHE_DIR": str(Path(scratch) / "cache")}
        subprocess.run([sys.executable, "-m", "keyhole", "index", "."], cwd=root, env=environment, check=True)
        (root / "keyhole.checks.toml").write_text(checks_text(root))
        rounds = [run_once(root, environment) for _ in range(chosen.rounds)]
    seconds, cpu = (statistics.median(column) for column in list(zip(*rounds, strict=True))[:2])
    passed = rounds[0][2]
    print(f"{CHECKS} checks on {FILES:,} files: {seconds:.2f} s, {cpu:.2f} s of CPU time; {passed} pass")
    if chosen.record:
        figures = {"files": FILES, "checks": CHECKS, "passed": passed, "seconds": seconds, "cpu_seconds": cpu}
        print(save_record("checks", figures))
    sys.exit(0 if seconds < MOST_SECONDS and passed >= CHECKS / 2 else 1)


def copy_files(root: Path) -> Path:
    """Copy the first files of Django's source distribution."""
    original = fetch_sdist("django", "5.2")
    files = sorted(path for path in original.rglob("*.py") if path.stat().st_size)[:FILES]
    if len(files) < FILES:
        raise SystemExit(f"Django has only {len(files):,} Python files")
    for path in files:
        target = root / path.relative_to(original)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(path.read_bytes())
    return root


def checks_text(root: Path) -> str:
    """Return a checks file with exactly as many rows as are measured."""
    # A name that several files have would not lead to one of them.
    names = Counter(path.stem for path in root.rglob("*.py"))
    modules = [path for path in sorted(root.rglob("*.py")) if path.stat().st_size > 8_000 and names[path.stem] == 1]
    step = max(len(modules) // 70, 1)
    chosen = [path.relative_to(root).as_posix() for path in modules[::step]]
    prefix = next(path.partition("/django/")[0] for path in chosen if "/django/" in path)
    tables = [
        f'[[query]]\nquery = "{phrase}"\nfiles = ["{prefix}/django/{path}"]\n' for phrase, path in PHRASES.items()
    ]
    tables += [f'[[query]]\nquery = "{Path(path).stem}"\nfiles = ["{path}"]\n' for path in chosen[:40]]
    tables += [_fact(root, path) for path in chosen[:20]]
    tables += [f'[[map]]\nfiles = ["{path}"]\nmax_tokens = 5000\n' for path in chosen[40:60]]
    tables += [f'[[answer]]\ntool = "read_file"\narguments = {{ path = "{path}" }}\n' for path in chosen[60:62]]
    tables += ["[[tool_list]]\nmax_tokens = 5000\n", "[[links]]\nmax_broken = 1000\n"]
    tables += [f'[[forbidden]]\ntext = "canary-{number}"\n' for number in range(4)]
    return "\n".join(tables)


def _fact(root: Path, path: str) -> str:
    """Return a check of a line in the middle of a file."""
    lines = [line.strip() for line in (root / path).read_text().splitlines()]
    fact = next(line for line in lines[len(lines) // 2 :] if len(line) > 15 and "'" not in line)
    return f"[[fact]]\nfact = '{fact}'\nquery = \"{Path(path).stem.replace('_', ' ')}\"\nmax_tokens = 20000\n"


def run_once(root: Path, environment: dict[str, str]) -> tuple[float, float, int]:
    """Return the seconds of a run, its CPU time with that of all its processes, and how many checks passed."""
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    command = [sys.executable, "-m", "keyhole", "check", "--json"]
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)
    seconds, after = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    facts = json.loads(done.stdout)
    if facts["total"] != CHECKS:
        raise SystemExit(f"{facts['total']} checks instead of {CHECKS}: {done.stderr}")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return seconds, cpu, facts["passed"]


if __name__ == "__main__":
    main()
