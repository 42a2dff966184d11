"""Comparing an index with a fresh one of the same files: every row, and the answers in text and JSON."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from keyhole.core.config import load_settings
from keyhole.core.errors import KeyholeError
from keyhole.core.index.location import INDEX_FILE
from keyhole.core.index.store import Store
from keyhole.core.links.requests import RelationRequest
from keyhole.core.service import Service
from keyhole.core.types.choices import Format
from keyhole.core.types.view_requests import SearchRequest

Request = SearchRequest | RelationRequest
Rows = dict[str, list[tuple[object, ...]]]

_DUMPS = {
    "files": """SELECT path, size, digest, encoding, language, lines, has_errors, content_hint, role
        FROM file ORDER BY path""",
    "chunks": """SELECT path, start, length, start_line, end_line, definitions
        FROM chunk JOIN file ON file.id = file_id ORDER BY path, start""",
    "symbols": """SELECT path, depth, name, kind, signature, doc, returns, start_line, end_line, name_line, parent,
        exported, modifiers FROM symbol JOIN file ON file.id = file_id ORDER BY path, symbol.id""",
    "links": """SELECT file.path, line, kind, target, part, is_fixed, state, link.path, reason, site
        FROM link JOIN file ON file.id = file_id ORDER BY file.path, link.id""",
    "declared": """SELECT path, kind, name, value FROM declared
        JOIN file ON file.id = file_id ORDER BY path, declared.id""",
    "skips": "SELECT path, reason, detail, is_dir FROM skip ORDER BY path",
    "words": """SELECT path, start, words.col, words.offset, term
        FROM temp.words CROSS JOIN chunk ON chunk.id = doc JOIN file ON file.id = file_id ORDER BY 1, 2, 3, 4, 5""",
    "vectors": """SELECT path, start, vector FROM chunk_vector
        JOIN chunk ON chunk.id = chunk_id JOIN file ON file.id = file_id ORDER BY path, start""",
    "tokens": """SELECT path, start, tokens FROM chunk_tokens
        JOIN chunk ON chunk.id = chunk_id JOIN file ON file.id = file_id ORDER BY path, start""",
    "documents": """SELECT path, words, vector FROM file_document JOIN file ON file.id = file_id ORDER BY path""",
    "names": "SELECT path, names FROM file_occurrences JOIN file ON file.id = file_id ORDER BY path",
    "files of names": "SELECT term, path FROM temp.names JOIN file ON file.id = doc ORDER BY 1, 2",
    "orphans": """SELECT 'chunk', id FROM chunk WHERE file_id NOT IN (SELECT id FROM file)
        UNION ALL SELECT 'symbol', id FROM symbol WHERE file_id NOT IN (SELECT id FROM file)
        UNION ALL SELECT 'link', id FROM link WHERE file_id NOT IN (SELECT id FROM file)
        UNION ALL SELECT 'declared', id FROM declared WHERE file_id NOT IN (SELECT id FROM file)
        UNION ALL SELECT 'words', doc FROM temp.words WHERE doc NOT IN (SELECT id FROM chunk)
        UNION ALL SELECT 'vector', chunk_id FROM chunk_vector WHERE chunk_id NOT IN (SELECT id FROM chunk)
        UNION ALL SELECT 'tokens', chunk_id FROM chunk_tokens WHERE chunk_id NOT IN (SELECT id FROM chunk)
        UNION ALL SELECT 'document', file_id FROM file_document WHERE file_id NOT IN (SELECT id FROM file)
        UNION ALL SELECT 'names', file_id FROM file_occurrences WHERE file_id NOT IN (SELECT id FROM file)
        UNION ALL SELECT 'files of names', doc FROM temp.names WHERE doc NOT IN (SELECT id FROM file)""",
}


def dump_rows(path: Path) -> Rows:
    """Read everything in an index, in an order and with names that don't depend on how it was built."""
    with Store(path) as store:
        store.query("CREATE VIRTUAL TABLE temp.words USING fts5vocab(main, chunk_words, instance)")
        store.query("CREATE VIRTUAL TABLE temp.names USING fts5vocab(main, file_names, instance)")
        return {name: store.query(sql) for name, sql in _DUMPS.items()}


def open_service(root: Path, cache: Path, model: str) -> Service:
    return Service(root, load_settings(root, {"cache_dir": cache, "index.model": model}))


def answer(service: Service, request: Request) -> str:
    """Return the answer to a request, or the error it ends with."""
    try:
        if isinstance(request, SearchRequest):
            return service.search_view(request).text
        return service.relation_view(request).text
    except KeyholeError as error:
        return f"{type(error).__name__}: {error}"


def without_history(text: str) -> Any:
    """Return an answer in JSON without the facts that may depend on when it was given; an error as it is."""
    if not text.startswith("{"):
        return text
    facts = json.loads(text)
    del facts["latency_ms"], facts["index"]["generation"], facts["pagination"]["cursor"]
    # These are sizes of the whole answer, so they follow the three facts above.
    del facts["truncation_info"]["estimated_chars"], facts["truncation_info"]["estimated_tokens"]
    return facts


def different_answers(service: Service, fresh: Service, requests: Sequence[Request]) -> Iterator[Request]:
    """Yield the requests that a fresh index answers differently, in the format in which it does."""
    for request in requests:
        if answer(service, request) != answer(fresh, request):
            yield request
        in_json = replace(request, format=Format.JSON)
        if without_history(answer(service, in_json)) != without_history(answer(fresh, in_json)):
            yield in_json


def different_rows(service: Service, fresh: Service) -> Iterator[str]:
    """Yield the names of the tables whose rows differ from those of a fresh index."""
    rows, expected = dump_rows(service.folder / INDEX_FILE), dump_rows(fresh.folder / INDEX_FILE)
    return (name for name in expected if rows[name] != expected[name])
