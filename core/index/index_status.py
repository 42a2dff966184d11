"""Facts about a whole index: counts by language, and lists of all paths."""

from collections import Counter
from pathlib import Path

from keyhole.core.files.ignore import rules_fingerprint
from keyhole.core.files.walk import Known, Scan, scan
from keyhole.core.index.index_home import IndexHome
from keyhole.core.index.protocols import IndexStore
from keyhole.core.index.rows import IndexFacts, LanguageTotals
from keyhole.core.syntax.analysis_version import ANALYSIS_VERSION
from keyhole.core.types.index import LanguageCount, Status
from keyhole.core.types.inventory import Inventory
from keyhole.core.types.source_files import DEFAULT_SECRETS, SecretPolicy, Skip


def read_status(root: Path, home: IndexHome, *, max_bytes: int, secrets: SecretPolicy = DEFAULT_SECRETS) -> Status:
    """Read the index, if there is one, and compare it with the current files."""
    facts, totals, known, unparsed, outdated = IndexFacts(), list[LanguageTotals](), Known(), list[Skip](), 0
    if home.identity() is not None:
        with home.open_index(is_reader=True) as store, store.snapshot():
            known = store.known()
            facts = store.facts()
            totals = store.language_totals()
            unparsed = store.unparsed()
            outdated = store.count_outdated_files(ANALYSIS_VERSION)
    known.rules_hold = facts.rules == rules_fingerprint(max_bytes, secrets)
    found = scan(root, max_bytes=max_bytes, known=known, secrets=secrets)
    languages = tuple(LanguageCount(one.language, one.files, one.chunks, one.symbols) for one in totals)
    same_skips = [known.skips[same][0] for same in found.same_skips]
    skips = sorted([*found.skips, *same_skips, *unparsed], key=lambda skip: skip.path)
    return Status(
        root=str(root),
        index_path=home.address,
        index_bytes=home.size_on_disk(),
        generation=facts.generation,
        updated=facts.updated,
        model=facts.model,
        pending=len(found.candidates) if facts.pending is None else facts.pending,
        stale=count_changes(known, found),
        files=sum(count.files for count in languages),
        size=sum(one.size for one in totals),
        chunks=sum(count.chunks for count in languages),
        symbols=sum(count.symbols for count in languages),
        languages=languages,
        skipped=dict(Counter(skip.reason.value for skip in skips)),
        skips=tuple(skips),
        outdated=outdated,
    )


def read_inventory(store: IndexStore) -> Inventory:
    """Return the contents of the index, without reading the files."""
    return Inventory(
        files=tuple(store.indexed_files()),
        skips=tuple(store.skips()),
        kinds=tuple(store.kinds_by_count()),
        generation=store.facts().generation,
    )


def count_changes(known: Known, found: Scan) -> int:
    """Count the files that an index run would read or remove."""
    candidates = {candidate.path for candidate in found.candidates}
    return len(candidates) + len(known.files.keys() - candidates - set(found.same_files))
