"""Links in the index: what each file's rows say, resolved against all paths once a run has taken them in.

A link is resolved when it is new, when what it leads to has other headings, or, should any path or
declaration have come or gone, together with all others. No file is read again for it.
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
    """Bring every link up to date with the paths there are, inside the caller's transaction."""
    which = store.facts().links
    if not which:
        return
    is_all = which == "all"
    links = store.links_to_resolve(every=is_all)
    if links:
        # Reading all anchors at once is cheaper than reading them note by note, unless only a few links are open.
        store.put_resolutions(_changes(links, _resolver(store, store.anchors().get if is_all else store.anchors_of)))
    store.set_fact("links", "")


def _changes(links: Iterable[StoredLink], resolver: Resolver) -> Iterator[tuple[int, Resolution]]:
    """Yield each link that changed, by its number, and where it leads now."""
    for (path, language), of_file in groupby(links, key=attrgetter("origin", "language")):
        origin = Origin(path, language)
        seen: set[tuple[int, Resolution]] = set()
        for link in of_file:
            found = resolver.resolve(origin, link.kind, link.target, link.part)
            place = (link.line, found)
            if link.kind == LinkKind.IMPORT:
                # One statement may take several names from one file.
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
