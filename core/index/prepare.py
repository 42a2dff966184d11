"""Turning a file into the rows that the store writes: the part of indexing that runs on several cores."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from keyhole.core.errors import ParserError
from keyhole.core.files.read import read_source
from keyhole.core.files.stamps import settled
from keyhole.core.files.walk import RECHECKED_REASONS
from keyhole.core.index.content_store import ContentPlace
from keyhole.core.index.embedder import Embedder
from keyhole.core.index.file_parts import place_facts, rows_of, text_facts, with_vectors
from keyhole.core.index.known_content import known_content
from keyhole.core.index.rows import FileRows
from keyhole.core.masking import mask_text
from keyhole.core.syntax.languages import detect_language
from keyhole.core.types.source_files import (
    DEFAULT_SECRETS,
    Candidate,
    SecretPolicy,
    Skip,
    SkipReason,
    SourceFile,
    Stamp,
)
from keyhole.core.types.syntax import Analysis


@dataclass(frozen=True, slots=True)
class Unchanged:
    """A file whose time changed but whose content did not."""

    path: str
    stamp: Stamp


@dataclass(frozen=True, slots=True)
class SkippedFile:
    """A file that was skipped after reading it; the skip is valid while the file has this stamp."""

    skip: Skip
    stamp: Stamp | None

    @property
    def path(self) -> str:
        """The skipped path."""
        return self.skip.path


Prepared = FileRows | Unchanged | SkippedFile


Analyse = Callable[[SourceFile], Analysis]


@dataclass(frozen=True, slots=True)
class Preparation:
    """What preparing any file of a workspace needs; it is sent to workers, and each opens the model itself."""

    root: Path
    max_bytes: int
    embedder: Embedder | None = None
    secrets: SecretPolicy = DEFAULT_SECRETS
    # The index was made with other decisions about secrets: even a file that has not changed may need other masks.
    rereads_masked: bool = False
    # The version that the index records with the rows.
    analysis: int = 0
    # The content store, if it is on.
    content: ContentPlace | None = None
    # The index keeps the texts, because its readers don't have the files.
    keeps_text: bool = False


def prepare(preparation: Preparation, candidate: Candidate, known_digest: str, analyse: Analyse) -> Prepared:
    """Read, parse, split and embed one file, unless its content has the known digest.

    `analyse` runs a grammar: in a worker directly, everywhere else through the parsing worker.
    """
    embedder = preparation.embedder
    read_at = time.time_ns()
    source = read_source(preparation.root, candidate.path, max_bytes=preparation.max_bytes, secrets=preparation.secrets)
    if isinstance(source, Skip):
        # A file skipped for its content is not read again until it changes; links and devices are checked every time.
        by_content = source.reason not in RECHECKED_REASONS
        return SkippedFile(source, settled(candidate.stamp, read_at) if by_content else None)
    stamp = source.stamp
    if source.digest == known_digest and not (preparation.rereads_masked and source.masked):
        return Unchanged(source.path, stamp)
    known = known_content(
        preparation.content,
        source,
        detect_language(source.path, source.text).id,
        embedder.name if embedder else "",
        preparation.secrets,
    )
    try:
        text, unparsed = known.text_facts(), ""
        if text is None:
            analysis = analyse(source)
            text, unparsed = text_facts(analysis), analysis.outline.missed
            # What a grammar could not parse is tried again by a later run.
            if not unparsed:
                known.learn_text(text)
        place = None if unparsed else known.place_facts()
        found = place or place_facts(source, text)
    except ParserError:
        raise  # No file is to blame if the parsing worker cannot start.
    except (Exception, RecursionError) as error:  # noqa: BLE001  # one bad file must not stop a run
        detail = mask_text(f"internal error ({type(error).__name__}: {error})")
        return SkippedFile(Skip(source.path, SkipReason.FAILED, detail[:200]), stamp)
    if place is None:
        # Outside the try block: an error of the model is not a problem of the file.
        found = with_vectors(source, text, found, embedder) if embedder and text.chunks else found
        if not unparsed:
            known.learn_place(found)
    kept = source.text if preparation.keeps_text else None
    rows = rows_of(source, text, found)
    return replace(rows, unparsed=unparsed, analysis=preparation.analysis, text=kept, news=known.news)
