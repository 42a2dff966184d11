"""Resolving the links in the index, after a run has indexed all changed files.

A link is resolved when it is new or when the headings of its target have changed. If any path or declaration was added
or removed, all links are resolved. No file is read again for this.
"""

from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import attrgetter

from keyhole.core.index.protocols import WriterStore
from keyhole.core.index.rows import StoredLink
from keyhole.core.links.link_types import LinkKind, LinkState, Origin, Resolution
from keyhole.core.links.paths import Paths
from keyhole.core.links.prose import Anchors
from keyhole.core.links.resolve import Resolver


def resolve_links(store: WriterStore) -> None:
    """Resolve the links that need it against the current paths, inside the caller's transaction."""
    which = store.facts().links
    if not which:
        return
    is_all = which == "all"
    links = store.links_to_resolve(every=is_all)
    if links:
        # Reading all anchors together is faster than note by note, unless only a few links need resolving.
        store.put_resolutions(_changes(links, _resolver(store, store.anchors().get if is_all else store.anchors_of)))
    store.set_fact("links", "")


def _changes(links: Iterable[StoredLink], resolver: Resolver) -> Iterator[tuple[int, Resolution]]:
    """Yield the id and the new resolution of each link whose resolution changed."""
    for (path, language), of_file in groupby(links, key=attrgetter("origin", "language")):
        origin = Origin(path, language)
        seen: set[tuple[int, Resolution]] = set()
        for link in of_file:
            found = resolver.resolve(origin, link.kind, link.target, link.part)
            place = (link.line, found)
            if link.kind == LinkKind.IMPORT:
                # One statement may import several names from one file; count it once.
                if place in seen:
                    found = found._replace(state=LinkState.REPEATED)
                seen.add(place)
            if found != (link.state, link.path, link.reason, link.site):
                yield link.id, found


def _resolver(store: WriterStore, anchors: Anchors) -> Resolver:
    skips = store.skips()
    files_skipped = (skip.path for skip in skips if not skip.is_dir)
    folders_skipped = (skip.path for skip in skips if skip.is_dir)
    return Resolver(Paths(store.paths(), files_skipped, folders_skipped), store.declarations(), anchors)
