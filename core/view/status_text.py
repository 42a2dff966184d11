"""The status of a workspace: what its index holds, what it skips, and why."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from keyhole.core.syntax.languages import BY_ID
from keyhole.core.types.index import IndexReport, Status, StoreSize
from keyhole.core.view.text import count_of, human_size

if TYPE_CHECKING:
    from keyhole.core.sharing.shared_status import SharedStatus

NO_MODEL = "none, so search is by words only"


def status_text(status: Status, *, list_skips: bool = False) -> str:
    """Return the status as a short report."""
    lines = [f"Workspace  {status.root}", *_index_lines(status)]
    if status.languages:
        lines += ["", f"{'Language':<18}{'files':>9}{'chunks':>9}{'symbols':>9}"]
        lines += [
            f"{BY_ID[count.language].label:<18}{count.files:>9,}{count.chunks:>9,}{count.symbols:>9,}"
            for count in status.languages
        ]
    if status.skipped:
        lines += ["", f"{'Skipped':<18}{'paths':>9}"]
        lines += [f"{reason:<18}{count:>9,}" for reason, count in _largest_first(status.skipped)]
    if list_skips:
        lines += ["", *(f"{s.path}{'/' if s.is_dir else ''}: {s.text}" for s in status.skips)]
    return "\n".join(lines) + "\n"


def status_facts(status: Status) -> dict[str, object]:
    """Return the same as JSON facts."""
    facts = asdict(status) | {"skipped": dict(_largest_first(status.skipped))}
    return {"project": facts.pop("root"), **facts}


def report_text(report: IndexReport) -> str:
    """Return what an index run did, in two or three lines."""
    changed = report.added + report.changed + report.removed
    parts = [f"{report.added:,} new", f"{report.changed:,} edited", f"{report.removed:,} removed"]
    detail = f" ({', '.join(parts)})" if changed else ""
    lines = [
        f"{changed:,} changed{detail}, {report.current:,} unchanged",
        " │ ".join(
            [
                count_of(report.files, "file"),
                count_of(report.chunks, "chunk"),
                f"{report.skipped:,} skipped",
                *([f"{report.unparsed:,} not parsed"] if report.unparsed else []),
                f"generation {report.generation}",
                f"{report.seconds:.1f} s",
            ]
        ),
    ]
    if not report.model:
        lines.append(f"Model: {NO_MODEL}")
    return "\n".join(lines) + "\n"


def store_text(store: StoreSize) -> str:
    """Return how much is in the content store."""
    limit = f"at most {human_size(store.max_bytes)}" if store.max_bytes else "turned off"
    entries = f"{store.entries:,} entries" if store.entries != 1 else "1 entry"
    return f"Content store  {store.path}\nSize           {human_size(store.bytes)} │ {entries} │ {limit}\n"


def sharing_text(servers: Sequence["SharedStatus"]) -> str:
    """Return which shared servers run, what they serve, and from which process."""
    lines = []
    for server in servers:
        lines.append(f"Shared server  process {server.process} │ {count_of(server.sessions, 'client')}")
        lines += [f"  {root}" for root in server.roots]
    return "\n".join(lines or ["Shared server  not running"]) + "\n"


def sharing_facts(server: "SharedStatus") -> dict[str, object]:
    """Return the same about one server as JSON facts."""
    return {"process": server.process, "clients": server.sessions, "workspaces": list(server.roots)}


def cleared_text(workspaces: int, store_bytes: int) -> str:
    """Return what was deleted for all workspaces."""
    lines = []
    if workspaces:
        lines.append(f"Deleted the index and the journal of {count_of(workspaces, 'workspace')}")
    if store_bytes:
        lines.append(f"Deleted the content store ({human_size(store_bytes)})")
    return "\n".join(lines or ["Nothing to delete: no index, no journal and no content store."]) + "\n"


def _index_lines(status: Status) -> list[str]:
    if not status.generation:
        return ["Index      none yet", f"To index   {count_of(status.pending, 'file')}"]
    freshness = "current"
    if status.stale:
        freshness = f"out of date: {count_of(status.stale, 'file')} changed"
    elif status.outdated:
        freshness = f"{count_of(status.outdated, 'file')} indexed by an older version"
    if status.pending:
        freshness = f"incomplete: {count_of(status.pending, 'file')} to index"
    # A server has one size for all repositories.
    size = human_size(status.index_bytes) if status.index_bytes else "on a server"
    return [
        f"Index      {size} │ generation {status.generation} │ {freshness}",
        f"Updated    {status.updated}",
        f"Model      {_model_text(status)}",
        f"Files      {status.files:,} │ {human_size(status.size)}",
        f"Chunks     {status.chunks:,} │ {count_of(status.symbols, 'symbol')}",
    ]


def _model_text(status: Status) -> str:
    if status.model_problem:
        return f"search is by words only: {status.model_problem}"
    return status.model or NO_MODEL


def _largest_first(counts: dict[str, int]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))
