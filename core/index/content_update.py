"""What an index run tells the content store: new entries, and which ones were used."""

from collections.abc import Iterable
from types import TracebackType
from typing import Self

from keyhole.core.index.content_store import ContentPlace, ContentStore
from keyhole.core.index.known_content import close_readers
from keyhole.core.index.prepare import Prepared
from keyhole.core.index.rows import FileRows


class ContentUpdate:
    """The content store during one run; it is opened for writing when there is something to write."""

    def __init__(self, place: ContentPlace | None) -> None:
        self._place = place
        self._store: ContentStore | None = None
        self.reused = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        close_readers()
        if self._store:
            self._store.close()

    def record(self, batch: Iterable[Prepared]) -> None:
        """Record what a batch of files has found out and used."""
        news = [prepared.news for prepared in batch if isinstance(prepared, FileRows)]
        self.reused += sum(each.is_reused for each in news)
        new = [entry for each in news for entry in each.new]
        used = [key for each in news for key in each.used]
        if self._place and (new or used):
            self._store = self._store or ContentStore(self._place, is_writer=True)
            self._store.put(new, used)
