"""Looking up the parts of a file in the content store, and collecting those that it does not have yet."""

import threading
from dataclasses import dataclass, field

from keyhole.core.files.secret_names import secret_names
from keyhole.core.index.content_keys import place_key, text_key
from keyhole.core.index.content_parts import PlaceFacts, TextFacts, pack_place, pack_text, unpack_place, unpack_text
from keyhole.core.index.content_store import ContentPlace, ContentStore
from keyhole.core.index.rows import StoreNews
from keyhole.core.types.source_files import SecretPolicy, SourceFile


@dataclass(slots=True)
class KnownContent:
    """The parts of one file in the content store; without a store, none are known and none are collected."""

    store: ContentStore | None
    text: bytes = b""
    place: bytes = b""
    _new: list[tuple[bytes, bytes]] = field(default_factory=list)
    _used: list[bytes] = field(default_factory=list)
    _is_reused: bool = False

    def text_facts(self) -> TextFacts | None:
        """Return what the text gives, if it is known."""
        packed = self._find(self.text)
        self._is_reused = packed is not None
        return unpack_text(packed) if packed is not None else None

    def place_facts(self) -> PlaceFacts | None:
        """Return what the text gives at this path, if it is known."""
        packed = self._find(self.place)
        return unpack_place(packed) if packed is not None else None

    def learn_text(self, part: TextFacts) -> None:
        """Collect a new part."""
        if self.store:
            self._new.append((self.text, pack_text(part)))

    def learn_place(self, part: PlaceFacts) -> None:
        """Collect a new part."""
        if self.store:
            self._new.append((self.place, pack_place(part)))

    @property
    def news(self) -> StoreNews:
        """What the process that writes should tell the store."""
        return StoreNews(tuple(self._new), tuple(self._used), self._is_reused)

    def _find(self, key: bytes) -> bytes | None:
        entry = self.store.get(key) if self.store else None
        if entry is None:
            return None
        if entry.is_use_old:
            self._used.append(key)
        return entry.packed


def known_content(
    place: ContentPlace | None, source: SourceFile, language: str, model: str, secrets: SecretPolicy
) -> KnownContent:
    """Open the store for a file, unless its content must not be kept outside of the index of its workspace."""
    # What only this user's own settings admit, for this workspace, is not for others: texts with their secrets, and
    # secret files.
    if place is None or not secrets.masks or (secrets.readmits and secret_names(secrets).readmits(source.path)):
        return KnownContent(None)
    of_text = text_key(source.text, language)
    return KnownContent(_reader(place), of_text, place_key(of_text, source.path, model))


def close_readers() -> None:
    """Close the store if this thread has it open for reading."""
    if _open.store:
        _open.store.close()
    _open.store = None


class _OpenReader(threading.local):
    """The store that a thread has open: opening it for each file would take longer than reading."""

    place: ContentPlace | None = None
    store: ContentStore | None = None


_open = _OpenReader()


def _reader(place: ContentPlace) -> ContentStore:
    if _open.store is None or _open.place != place:
        close_readers()
        _open.place, _open.store = place, ContentStore(place)
    return _open.store
