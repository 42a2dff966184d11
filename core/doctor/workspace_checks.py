"""Checks of one workspace: its folder, cache folder, index, journal and ignore rules."""

import os
import shutil
import stat
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from keyhole.core.doctor.findings import DoctorFinding, Examined, note, ok, problem
from keyhole.core.errors import ErrorKind, KeyholeError, StoreError
from keyhole.core.files.ignore import RuleFile, load_default_rules, load_secret_rules
from keyhole.core.files.read import read_bytes
from keyhole.core.files.walk import MAX_RULE_FILE_BYTES, scan
from keyhole.core.files.workspace import open_workspace
from keyhole.core.index.location import INDEX_FILE, JOURNAL_FILE, index_folder
from keyhole.core.types.source_files import Skip
from keyhole.core.view.text import count_of, human_size
from keyhole.core.workspace.opening import OpenWorkspace

_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_LITTLE_SPACE = 200_000_000
_MOST_FILES = 10


def check_workspace(examined: Examined) -> Iterator[DoctorFinding]:
    """Check that the folder can be indexed."""
    try:
        open_workspace(examined.root)
    except KeyholeError as error:
        yield note("Workspace", error.problem, "name a project folder: keyhole doctor FOLDER")
    else:
        yield ok("Workspace", str(examined.root))


def check_cache(examined: Examined) -> Iterator[DoctorFinding]:
    """Check that the index can be written, and that only its owner can read it."""
    cache = examined.settings.cache_dir
    folder = index_folder(cache, examined.root)
    existing = next((path for path in (folder, *folder.parents) if path.exists()), folder)
    try:
        with tempfile.TemporaryFile(dir=existing) as file:
            file.write(b"keyhole")
        free = shutil.disk_usage(existing).free
    except OSError as error:
        remedy = f"make {existing} a folder that you can write to, or set KEYHOLE_CACHE_DIR"
        yield problem("Cache folder", f"cannot write to {existing} ({error.strerror})", remedy)
        return
    if free < _LITTLE_SPACE:
        remedy = "free some disk space, or set KEYHOLE_CACHE_DIR to another disk"
        yield problem("Cache folder", f"only {human_size(free)} free on the disk of {cache}", remedy)
    else:
        yield ok("Cache folder", f"{cache}, {human_size(free)} free")
    yield from _permission_findings(folder)


def _permission_findings(folder: Path) -> Iterator[DoctorFinding]:
    """Check who can read the files of a workspace, which hold source text; Windows has no such modes."""
    if os.name == "nt" or not folder.exists():
        return
    paths = [folder, *folder.iterdir()]
    foreign = [path for path in paths if path.lstat().st_uid != os.geteuid()]
    exposed = [path for path in paths if path.lstat().st_mode & _OTHERS]
    if foreign:
        text = f"{count_of(len(foreign), 'path')} in {folder} belong to another user, as after sudo"
        yield problem("Permissions", text, f'run sudo chown -R "$USER" {folder}')
    if exposed:
        text = f"other users can read {count_of(len(exposed), 'path')} in {folder}"
        yield problem("Permissions", text, f"run chmod -R go= {folder}")
    if not foreign and not exposed:
        yield ok("Permissions", f"only you can read {folder}")


def check_index(examined: Examined) -> Iterator[DoctorFinding]:
    """Check the file of the index, and compare it with the workspace."""
    from keyhole.core.index.health import damage_of

    path = index_folder(examined.settings.cache_dir, examined.root) / INDEX_FILE
    try:
        workspace = OpenWorkspace(examined.root, examined.settings)
        if workspace.home.identity() is None:
            yield note("Index", "none yet", "run keyhole index; the explorer and the server also make one")
            return
        if not workspace.elsewhere and (damage := damage_of(path)):
            yield problem("Index", f"{path} is damaged ({damage})", examined.steps[ErrorKind.DAMAGED_INDEX])
            return
        yield _index_state(examined)
    except StoreError as error:
        yield problem("Index", error.problem, examined.steps[error.kind])


def _index_state(examined: Examined) -> DoctorFinding:
    from keyhole.core.service import Service

    service = Service(examined.root, examined.settings)
    status = service.status()
    place = human_size(status.index_bytes) if status.index_bytes else f"on {status.index_path}"
    size = f"{count_of(status.files, 'file')}, {place}, updated {status.updated}"
    if OpenWorkspace(examined.root, examined.settings).home.has_writer():
        return note("Index", f"{size}; a process is indexing this workspace now")
    waiting = {"not indexed yet": status.pending, "changed since": status.stale, "of an older version": status.outdated}
    missing = [f"{count_of(count, 'file')} {state}" for state, count in waiting.items() if count]
    if missing:
        return note("Index", f"sound; {size}; {', '.join(missing)}", "run keyhole index to update it")
    return ok("Index", f"sound and up to date; {size}")


def check_journal(examined: Examined) -> Iterator[DoctorFinding]:
    """Check the file with the calls of agents."""
    from keyhole.core.index.health import damage_of

    path = index_folder(examined.settings.cache_dir, examined.root) / JOURNAL_FILE
    remedy = examined.steps[ErrorKind.DAMAGED_JOURNAL]
    if not examined.settings.journal.enabled:
        yield note("Journal", "off: calls of agents are not recorded", "remove journal.enabled from your settings")
        return
    try:
        if not path.exists():
            yield ok("Journal", "no calls yet")
        elif damage := damage_of(path):
            yield problem("Journal", f"{path} is damaged ({damage})", remedy)
        else:
            yield ok("Journal", f"sound; {human_size(path.stat().st_size)}")
    except (OSError, StoreError) as error:
        yield problem("Journal", str(error), remedy)


def check_ignore_rules(examined: Examined) -> Iterator[DoctorFinding]:
    """List the rules in effect and what they skip."""
    workspace = OpenWorkspace(examined.root, examined.settings)
    found = scan(examined.root, max_bytes=workspace.max_bytes, secrets=workspace.secrets)
    built_in = load_default_rules().count + load_secret_rules().count
    yield ok("Ignore rules", f"{built_in} rules of keyhole: lockfiles, generated files, binaries, secrets")
    paths = sorted(found.rule_files)
    for path in paths[:_MOST_FILES]:
        content = read_bytes(examined.root, path, max_bytes=MAX_RULE_FILE_BYTES)
        if isinstance(content, Skip):
            yield problem("Ignore rules", f"{path} is not applied: {content.detail}", f"make {path} readable")
        else:
            rules = RuleFile("", path, content[0].decode("utf-8", "replace"))
            yield ok("Ignore rules", f"{path}: {count_of(rules.count, 'rule')}")
    if len(paths) > _MOST_FILES:
        yield ok("Ignore rules", f"and {count_of(len(paths) - _MOST_FILES, 'more file')} in folders below")
    reasons = Counter(skip.reason.label for skip in found.skips)
    skipped = ", ".join(f"{count:,} {reason}" for reason, count in reasons.most_common()) or "nothing"
    if found.candidates:
        # Content is known only once files are read.
        yield ok("Skipped", f"{skipped}, by name, size or rule; keyhole status adds what is skipped for its content")
    elif found.skips:
        remedy = "run keyhole status --skipped, and include paths with !PATTERN in .keyholeignore"
        yield problem("Skipped", f"every file here is skipped: {skipped}", remedy)
    else:
        yield note("Skipped", "this folder has no files")
