"""The words of chunks as PostgreSQL stores them: packed, unpacked, found as phrases, and without some files."""

from collections import defaultdict
from collections.abc import Collection

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from keyhole.core.index.rows import WordColumns
from keyhole.core.postgres.repository_set import first_id
from keyhole.core.postgres.word_blocks import WordBlocks
from keyhole.core.postgres.word_postings import (
    FILES_OF_BLOCK,
    NARROW,
    WIDE,
    BlockWord,
    Postings,
    block_of,
    has_files,
    packed,
    postings_in,
    unpacked,
    without_files,
)
from keyhole.core.postgres.word_ranking import hits_of

REPOSITORY = 7
# Files and chunks by number: some in the first block, some in the second, and large numbers.
FILES = st.sampled_from([1, 2, FILES_OF_BLOCK - 1, FILES_OF_BLOCK, 5_000_000])
COLUMN = st.lists(st.sampled_from(["a", "b", "c", "größe", "字"]), max_size=9)
# A word so often that its row is wide, or so far back that its place takes two bytes.
LONG_COLUMN = st.sampled_from([["a"] * 300, ["b"] * 200 + ["a", "c"]])
CHUNKS = st.lists(
    st.tuples(FILES, st.tuples(COLUMN, COLUMN, st.one_of(COLUMN, COLUMN, COLUMN, LONG_COLUMN))), max_size=7
)
Chunks = list[tuple[int, tuple[list[str], ...]]]


def rows_of(chunks: Chunks, removed: Collection[int] = ()) -> list[BlockWord]:
    """Return the rows of chunks, which are numbered from 1; those of removed files are left out."""
    words = WordBlocks()
    for number, (file, columns) in enumerate(chunks, 1):
        if file not in removed:
            texts = WordColumns(*(" ".join(column) for column in columns))
            added = words.add(first_id(REPOSITORY) + file, first_id(REPOSITORY) + number, texts)
            assert added == sum(map(len, columns))
    return words.rows()


def known_in(rows: list[BlockWord]) -> dict[str, Postings]:
    of_word = defaultdict[str, list[tuple[int, int, bool, bytes, bytes]]](list)
    for row in rows:
        of_word[row.word].append((REPOSITORY, row.block, row.is_wide, row.postings, row.places))
    return {word: postings_in(found) for word, found in of_word.items()}


def places_of(phrase: list[str], columns: tuple[list[str], ...]) -> list[list[int]]:
    """Return where a phrase starts in each column of a chunk."""
    size = len(phrase)
    return [[at for at in range(len(words)) if words[at : at + size] == phrase] for words in columns]


@given(st.lists(st.integers(0, 1 << 40)))
def test_any_numbers_are_packed(numbers: list[int]) -> None:
    stored, starts = packed(np.array(numbers, np.int64))
    assert unpacked(stored).tolist() == numbers
    assert [unpacked(stored[start:])[0] for start in starts] == numbers


def test_small_numbers_take_one_byte() -> None:
    assert packed(np.array([0, 127, 128, 16_383, 16_384]))[0] == b"\x00\x7f\x80\x01\xff\x7f\x80\x80\x01"


@settings(max_examples=40)
@given(CHUNKS)
def test_any_words_are_unpacked_as_they_were(chunks: Chunks) -> None:
    rows = rows_of(chunks)
    assert [(row.word, row.block) for row in rows] == sorted({(row.word, row.block) for row in rows})
    known = known_in(rows)
    assert set(known) == {word for _, columns in chunks for column in columns for word in column}
    for word, postings in known.items():
        expected = [
            (number + first_id(REPOSITORY), file + first_id(REPOSITORY), sum(map(len, columns)), found)
            for number, (file, columns) in enumerate(chunks, 1)
            if any(found := places_of([word], columns))
        ]
        assert sorted(unpacked_chunks(postings)) == expected


def unpacked_chunks(postings: Postings) -> list[tuple[int, int, int, list[list[int]]]]:
    """Return each chunk with its file, its size, and the places of the word in its columns."""
    places, at, found = postings.places.tolist(), 0, []
    for number, counts in enumerate(postings.counts.tolist()):
        columns = []
        for count in counts:
            columns.append(places[at : at + count])
            at += count
        chunk_id, file_id, words = (
            int(part[number]) for part in (postings.chunk_ids, postings.file_ids, postings.words)
        )
        found.append((chunk_id, file_id, words, columns))
    assert at == len(places)
    return found


def test_only_rows_with_large_numbers_are_wide() -> None:
    rows = rows_of([(1, (["a"], [], ["a"] * 256 + ["b"])), (1, ([], [], ["a", "b"])), (64, ([], [], ["a"] * 255))])
    assert [(row.word, row.block, row.is_wide, len(row.postings)) for row in rows] == [
        ("a", 0, True, 2 * WIDE.bytes),
        ("a", 1, False, NARROW.bytes),
        ("b", 0, False, 2 * NARROW.bytes),
    ]
    (many,) = rows_of([(1, ([], [], ["a", "b"] * 40_000))])[:1]
    assert many.is_wide


@settings(max_examples=40)
@given(CHUNKS, st.sets(FILES))
@example([(file, ([], ["a"], ["b"] * 200 + ["a", "c"])) for file in (1, 2, 3)], {2})
def test_rows_without_files_are_those_of_the_others(chunks: Chunks, removed: set[int]) -> None:
    expected = known_in(rows_of(chunks, removed))
    kept = []
    for row in rows_of(chunks):
        numbers = {number for block, number in map(block_of, removed) if block == row.block}
        row_left = without_files(row, numbers) if has_files(row, numbers) else row
        kept += [row_left] if row_left else []
    found = known_in(kept)
    assert {word: unpacked_chunks(one) for word, one in found.items()} == {
        word: unpacked_chunks(one) for word, one in expected.items()
    }


@settings(max_examples=40)
@given(CHUNKS, st.lists(st.sampled_from(["a", "b", "c", "字"]), min_size=1, max_size=4))
def test_a_phrase_is_found_where_its_words_follow_each_other(chunks: Chunks, phrase: list[str]) -> None:
    hits = hits_of(tuple(phrase), known_in(rows_of(chunks)))
    facts = (part.tolist() for part in (hits.chunk_ids, hits.file_ids, hits.words, hits.counts))
    assert sorted(zip(*facts, strict=True)) == [
        (number + first_id(REPOSITORY), file + first_id(REPOSITORY), sum(map(len, columns)), list(map(len, found)))
        for number, (file, columns) in enumerate(chunks, 1)
        if any(found := places_of(phrase, columns))
    ]
