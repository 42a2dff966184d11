"""The table `file_text`: the texts of a team's files as they were indexed, with secrets masked, compressed."""

import json
import zlib
from collections.abc import Iterable
from itertools import starmap

from keyhole.core.masking import Mask
from keyhole.core.postgres.repository_rows import RepositoryRows
from keyhole.core.postgres.repository_set import FILE_AT_PATH
from keyhole.core.types.source_files import SourceFile

_SOURCES = f"""SELECT path, size, mtime_ns, digest, encoding, text, ctime_ns, inode, masked
    FROM {FILE_AT_PATH} JOIN file_text ON file_text.repo = file.repo AND file_id = id"""  # noqa: S608
_TIMES = f"""SELECT path, CASE WHEN mtime_ns >= 0 THEN mtime_ns
        ELSE (extract(epoch FROM coalesce(indexed, created)) * 1000000000)::bigint END
    FROM {FILE_AT_PATH} JOIN repository ON repository.id = file.repo"""  # noqa: S608


class PostgresTexts(RepositoryRows):
    """Texts of files, by path; a workspace that someone opened has its texts on disk instead."""

    def sources_at(self, paths: Iterable[str]) -> dict[str, SourceFile]:
        """Return the files of the paths that have a text here."""
        found: dict[str, SourceFile] = {}
        for path, size, written, digest, encoding, packed, changed, inode, masked in self.query(
            _SOURCES, **self.repositories.at_paths(paths)
        ):
            text = zlib.decompress(packed).decode("utf-8", "surrogatepass")
            masks = tuple(starmap(Mask, json.loads(masked))) if masked else ()
            found[path] = SourceFile(path, size, written, digest, encoding, text, changed, inode, masks)
        return found

    def times_of(self, paths: Iterable[str]) -> dict[str, int]:
        """Return when files were last written, in nanoseconds; if that is not known, when they were indexed."""
        return dict(self.query(_TIMES, **self.repositories.at_paths(paths)))

    def _add_text(self, file_id: int, text: str) -> None:
        self._add("file_text", [(file_id, zlib.compress(text.encode("utf-8", "surrogatepass")))])
