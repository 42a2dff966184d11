"""Prove that checks catch regressions: twenty seeded ones, in copies of three real projects.

    .venv/bin/python bench/checks_proof.py [--record]

The checks are in bench/checks_proof; all of them pass on the projects as published. Each regression is applied to a
copy, `keyhole check` runs there, and the copy is restored. It counts as caught if the check that is meant for such a
change fails; the exit code is 1 if one is not caught. At the end all checks pass again. pip and npm fetch the projects
the first time.

The checks were written first, but the first run caught only 18 of 20. It missed a huge generated file, because the map
of one is short; then maps got `complete`, and the check a lower ceiling. It missed a page that was four times as long,
because an answer shows only 500 lines of it: no check notices that, and a pasted log took its place.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from corpus import DATA, fetch_project, load_projects
from record import HERE, fetch_sdist, save_record

CHECKS = HERE / "checks_proof"
SERVER, SERVER_VERSION = "@modelcontextprotocol/server-filesystem", "2025.12.18"
CANARY = "canary-c0ffee"
CHECKS_FILE = Path("keyhole.checks.toml")
OURS = {CHECKS_FILE}


@dataclass(frozen=True)
class Regression:
    """A change for the worse: what it is, how to make it, and a part of the name of the check that must notice."""

    project: str
    what: str
    apply: Callable[[Path], None]
    noticed_by: str


def rename(path: str, new: str) -> Callable[[Path], None]:
    """Rename a file."""

    def apply(root: Path) -> None:
        (root / path).rename(root / new)

    return apply


def replace(path: str, old: str, new: str) -> Callable[[Path], None]:
    """Replace a text in a file, which must be there."""

    def apply(root: Path) -> None:
        text = (root / path).read_text()
        if old not in text:
            raise LookupError(f"{path} does not contain {old!r}")
        (root / path).write_text(text.replace(old, new))

    return apply


def append(path: str, text: str) -> Callable[[Path], None]:
    """Add a text at the end of a file, or make a file."""

    def apply(root: Path) -> None:
        with (root / path).open("a") as file:
            file.write(text)

    return apply


def without_docstring(path: str, function: str) -> Callable[[Path], None]:
    """Delete the docstring of a function, of its last definition."""

    def apply(root: Path) -> None:
        text = (root / path).read_text()
        start = text.rindex(f"def {function}(")
        docstring = re.compile(r'    """.*?"""\n', re.DOTALL).search(text, start)
        if docstring is None:
            raise LookupError(function)
        (root / path).write_text(text[: docstring.start()] + text[docstring.end() :])

    return apply


def moved_function(path: str, function: str, new: str) -> Callable[[Path], None]:
    """Move a function to another file."""

    def apply(root: Path) -> None:
        text = (root / path).read_text()
        start = text.index(f"\ndef {function}(") + 1
        end = text.index("\n\n\n", start) + 1
        (root / new).write_text(text[start:end])
        (root / path).write_text(text[:start] + text[end:])

    return apply


def minified(path: str) -> Callable[[Path], None]:
    """Join all lines of a file."""

    def apply(root: Path) -> None:
        (root / path).write_text(" ".join((root / path).read_text().split()) + "\n")

    return apply


ROUTES = "".join(f"def route_{number}(request, session, url):\n    return {number}\n\n\n" for number in range(9_000))
TABLE = (
    "\nconst table = {\n" + "".join(f"  reply_{number}: 'payload of {number}',\n" for number in range(40_000)) + "}\n"
)
LOG = "".join(
    f"    12:00:{number % 60:02} info req-{number} incoming request GET /items/{number} 200 in {number} ms\n"
    for number in range(450)
)
TOOL = """
server.registerTool("extra_%d", { title: "Extra", description: "Does something else with files in a directory.",
    inputSchema: { path: z.string() } }, async (args) => ({ content: [{ type: "text", text: args.path }] }));
"""
LISTED = '.map((entry) => `${entry.isDirectory() ? "[DIR]" : "[FILE]"} ${entry.name}`)'

REGRESSIONS = [
    Regression(
        "flask", "a renamed file", rename("src/flask/sessions.py", "src/flask/cookies.py"), "src/flask/sessions.py"
    ),
    Regression(
        "flask",
        "a deleted docstring",
        without_docstring("src/flask/helpers.py", "stream_with_context"),
        "src/flask/helpers.py",
    ),
    Regression(
        "flask",
        "a moved symbol",
        moved_function("src/flask/helpers.py", "url_for", "src/flask/urls.py"),
        "url_for → src/flask/helpers.py",
    ),
    Regression("flask", "a huge generated file", append("src/flask/routes.py", ROUTES), "src/flask/routes.py"),
    Regression("flask", "a secret in a page", append("docs/index.rst", f"\n{CANARY}\n"), CANARY),
    Regression(
        "flask",
        "an import of a missing module",
        append("src/flask/views.py", "\nfrom .gone import nothing\n"),
        "broken links",
    ),
    Regression("flask", "an ignored folder", append(".gitignore", "src/flask/json/\n"), "src/flask/json/provider.py"),
    Regression(
        "flask",
        "a fact written in another way",
        replace("src/flask/app.py", '"PERMANENT_SESSION_LIFETIME": timedelta(days=31),', "**session_defaults(),"),
        "PERMANENT_SESSION_LIFETIME",
    ),
    Regression("fastify", "a renamed file", rename("lib/hooks.js", "lib/lifecycle-steps.js"), "lib/hooks.js"),
    Regression(
        "fastify",
        "a renamed function",
        replace("lib/hooks.js", "onSendHookRunner", "runBeforeSend"),
        "onSendHookRunner",
    ),
    Regression("fastify", "a file over the size limit", append("lib/reply.js", TABLE), "lib/reply.js"),
    Regression("fastify", "a minified file", minified("lib/content-type-parser.js"), "lib/content-type-parser.js"),
    Regression(
        "fastify", "a renamed page", rename("docs/Reference/Hooks.md", "docs/Reference/Hook.md"), "broken links docs"
    ),
    Regression(
        "fastify",
        "a log pasted into a page",
        replace("docs/Reference/Hooks.md", "## Hooks", f"## Hooks\n\n{LOG}\n"),
        'read_file(path="docs/Reference/Hooks.md")',
    ),
    Regression("fastify", "a secret in an example", append("examples/simple.js", f"// {CANARY}\n"), "/canary-"),
    Regression(
        "filesystem",
        "a tool description of 5 KB",
        replace(
            "dist/index.js",
            '"Get a detailed listing of all',
            '"Listing. ".repeat(580) + "Get a detailed listing of all',
        ),
        "descriptions",
    ),
    Regression(
        "filesystem",
        "sixty more tools",
        replace(
            "dist/index.js",
            'server.registerTool("list_directory", {',
            "".join(TOOL % number for number in range(60)) + 'server.registerTool("list_directory", {',
        ),
        "tool list",
    ),
    Regression(
        "filesystem",
        "an answer in another form",
        replace("dist/index.js", LISTED, ".map((entry) => entry.name)"),
        "list_directory",
    ),
    Regression(
        "filesystem",
        "a renamed tool",
        replace("dist/index.js", 'server.registerTool("read_text_file"', 'server.registerTool("read_text"'),
        "read_text_file",
    ),
    Regression("filesystem", "a server that does not start", append("dist/lib.js", "\nexport {\n"), "tool list"),
]


def main() -> None:
    """Apply every regression, print a table, and with --record store the result."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--record", action="store_true", help="store the result under bench/records")
    chosen = options.parse_args()
    caught: list[dict[str, object]] = []
    checks: dict[str, int] = {}
    with tempfile.TemporaryDirectory() as scratch:
        for name, fetch in PROJECTS.items():
            copy = ProjectCopy(name, fetch(), Path(scratch))
            checks[name] = copy.count
            caught += [copy.outcome(regression) for regression in REGRESSIONS if regression.project == name]
            copy.check_restored()
    missed = [row for row in caught if not row["is_caught"]]
    print(f"{len(caught) - len(missed)} of {len(caught)} regressions caught")
    if chosen.record:
        figures = {"regressions": len(caught), "caught": len(caught) - len(missed), "checks": checks, "each": caught}
        print(save_record("checks-proof", figures))
    sys.exit(1 if missed else 0)


class ProjectCopy:
    """A copy of a project with its checks, which pass before any change."""

    def __init__(self, name: str, original: Path, scratch: Path) -> None:
        self._name = name
        self._original = original
        self._root = scratch / name
        self._environment = {**os.environ, "KEYHOLE_CACHE_DIR": str(scratch / "cache")}
        self._restore()
        shutil.copy(CHECKS / f"{name}.toml", self._root / CHECKS_FILE)
        if (original / "node_modules").exists():
            (self._root / "node_modules").symlink_to((original / "node_modules").resolve())
        self._results("--update")
        self.count = self.check_restored()
        print(f"{name}: {self.count} checks pass")

    def outcome(self, regression: Regression) -> dict[str, object]:
        """Apply a regression, run the checks, and restore the copy."""
        regression.apply(self._root)
        failed = _failed(self._results())
        is_caught = any(regression.noticed_by in name for name in failed)
        print(f"  {'caught' if is_caught else 'MISSED':<8}{regression.what:<32}{'; '.join(failed)[:120]}", flush=True)
        self._restore()
        return {"project": regression.project, "what": regression.what, "is_caught": is_caught, "failed": failed}

    def check_restored(self) -> int:
        """Exit if a check fails without a regression; return how many checks there are."""
        results = self._results()
        if failed := _failed(results):
            raise SystemExit(f"{self._name}: these checks fail without a regression: {failed}")
        return len(results)

    def _restore(self) -> None:
        """Undo all changes; only what changed is written, so that the next run reads only that again."""
        known = {path.relative_to(self._original) for path in _files_in(self._original)}
        for path in known:
            target = self._root / path
            if not target.is_file() or target.read_bytes() != (self._original / path).read_bytes():
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(self._original / path, target)
        for extra in {path.relative_to(self._root) for path in _files_in(self._root)} - known - OURS:
            (self._root / extra).unlink()

    def _results(self, *options: str) -> list[dict[str, str]]:
        """Run the command; the checks files are ours, so their server may be started."""
        command = [sys.executable, "-m", "keyhole", "check", "--json", "--allow-commands", *options]
        done = subprocess.run(
            command, cwd=self._root, env=self._environment, capture_output=True, text=True, check=False
        )
        if not done.stdout:
            raise SystemExit(f"{self._name}: {done.stderr}")
        results: list[dict[str, str]] = json.loads(done.stdout)["checks"]
        return results


def _files_in(folder: Path) -> list[Path]:
    """Return the files of a project, without what it needs to run and without snapshots."""
    skipped = ("node_modules", ".keyhole")
    return [path for path in folder.rglob("*") if path.is_file() and path.relative_to(folder).parts[0] not in skipped]


def _failed(results: list[dict[str, str]]) -> list[str]:
    return [result["name"] for result in results if result["status"] != "passed"]


def fetch_flask() -> Path:
    """Return the source distribution of Flask."""
    return next(path for path in fetch_sdist("flask", "3.1.2").iterdir() if path.is_dir())


def fetch_fastify() -> Path:
    """Return the package of Fastify that search quality is measured on."""
    (project,) = [project for project in load_projects() if project["name"] == "fastify"]
    return fetch_project(project)


def fetch_filesystem() -> Path:
    """Return the reference server for files, with what it needs to run."""
    folder = DATA / f"server-filesystem-{SERVER_VERSION}"
    project = folder / "project"
    if not project.exists():
        folder.mkdir(parents=True, exist_ok=True)
        quiet = ["--silent", "--no-audit", "--no-fund", "--ignore-scripts"]
        subprocess.run(["npm", "install", *quiet, "--prefix", str(folder), f"{SERVER}@{SERVER_VERSION}"], check=True)
        shutil.copytree(folder / "node_modules" / SERVER, project)
        (project / "node_modules").symlink_to(folder / "node_modules")
    return project


PROJECTS: dict[str, Callable[[], Path]] = {
    "flask": fetch_flask,
    "fastify": fetch_fastify,
    "filesystem": fetch_filesystem,
}

if __name__ == "__main__":
    main()
