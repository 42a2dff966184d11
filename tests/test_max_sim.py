"""MaxSim: the most similar token of a chunk for each token of a query, and the tokens that the index stores for it."""

from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from keyhole.core.index.embedder import Embedder, token_type_of
from keyhole.core.index.location import INDEX_FILE
from keyhole.core.index.model import StaticEmbedder, from_folder, open_embedder
from keyhole.core.index.model_folder import BUILTIN
from keyhole.core.index.store import Store
from keyhole.core.index.update import Request, update_index
from keyhole.core.search.max_sim import QueryTokens, max_sim, similarity_by_tokens

Tokens = NDArray[np.unsignedinteger]
VOCABULARY, DIMENSION = 30, 8
TABLE = np.random.default_rng(7).integers(-127, 128, (VOCABULARY, DIMENSION)).astype(np.int8)
TABLE[3] = 0
CHUNKS = st.lists(st.sets(st.integers(0, VOCABULARY - 1), max_size=12), max_size=8)
QUERIES = st.integers(0, 5).flatmap(
    lambda count: st.builds(
        QueryTokens,
        arrays(np.int8, (count, DIMENSION), elements=st.integers(-127, 127)),
        arrays(np.float32, count, elements=st.floats(0, 500, width=32)),
    )
)


def score(query: QueryTokens, chunks: list[set[int]]) -> list[float]:
    ids: Tokens = np.array([token for chunk in chunks for token in sorted(chunk)], "<u2")
    sizes = np.array([len(chunk) for chunk in chunks], np.intp)
    found: list[float] = max_sim(query, ids, sizes, lambda tokens: TABLE[tokens]).tolist()
    return found


def score_plainly(query: QueryTokens, chunk: set[int]) -> float:
    """Compute the same for one chunk, number by number."""
    total = float(query.weights.sum(dtype=np.float64))
    if not total:
        return 0.0
    found = 0.0
    for vector, weight in zip(query.vectors.tolist(), query.weights.tolist(), strict=True):
        found += weight * max([0.0, *(cosine(vector, TABLE[token].tolist()) for token in chunk)])
    return found / total


def cosine(first: list[int], second: list[int]) -> float:
    lengths = sum(n * n for n in first) * sum(n * n for n in second)
    return sum(a * b for a, b in zip(first, second, strict=True)) / lengths**0.5 if lengths else 0.0


@given(QUERIES, CHUNKS)
def test_each_token_of_the_query_counts_with_its_best_match(query: QueryTokens, chunks: list[set[int]]) -> None:
    scores = score(query, chunks)
    assert scores == pytest.approx([score_plainly(query, chunk) for chunk in chunks], abs=2e-6)
    assert all(0 <= one <= 1 and one == round(one, 6) for one in scores)


@given(QUERIES, CHUNKS, st.randoms(use_true_random=False))
def test_the_similarity_of_a_chunk_depends_on_no_other_chunk(
    query: QueryTokens, chunks: list[set[int]], chance: Random
) -> None:
    alone = [score(query, [chunk])[0] for chunk in chunks]
    order = list(range(len(chunks)))
    chance.shuffle(order)
    assert score(query, [chunks[number] for number in order]) == [alone[number] for number in order]


def test_many_dimensions_add_up_exactly_too() -> None:
    # Beyond 2 to the 24th, 32 bits would round.
    wide = np.full((2, 4_096), 127, np.int8)
    wide[1, :2_048] = -127
    query = QueryTokens(wide[:1], np.ones(1, np.float32))
    ids, sizes = np.array([0, 1, 0, 1], "<u4"), np.array([1, 1, 2], np.intp)
    assert max_sim(query, ids, sizes, lambda tokens: wide[tokens]).tolist() == [1, 0, 1]


def test_a_large_vocabulary_has_wider_ids() -> None:
    assert [token_type_of(count) for count in (30_000, 65_536, 65_537)] == ["<u2", "<u2", "<u4"]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    root.mkdir()
    (root / "a.py").write_text("# retry again\nx = retry(retry)\n")
    (root / "b.py").write_text("# paint a colour\n")
    return root


def index(root: Path, embedder: Embedder | None) -> Store:
    update_index(Request(root, root.parent / "cache", 1_000_000, embedder=embedder))
    return Store(root.parent / "cache" / INDEX_FILE)


def builtin() -> Embedder:
    embedder = open_embedder(BUILTIN)
    assert embedder is not None
    return embedder


def by_path(store: Store, found: dict[int, float]) -> dict[str, float]:
    return {place.path: found[place.chunk_id] for place in store.chunk_places(found)}


def tokens_of(embedder: Embedder, query: str) -> Tokens:
    (tokens,) = embedder.encode_with_tokens([query]).tokens
    return tokens


def chunk_ids(store: Store) -> list[int]:
    return [chunk_id for (chunk_id,) in store.query("SELECT id FROM chunk")]


def test_the_index_stores_the_distinct_tokens_of_each_chunk(root: Path) -> None:
    embedder = builtin()
    with index(root, embedder) as store:
        rows = store.token_ids(chunk_ids(store))
        stored = {place.path: place.chunk_id for place in store.chunk_places(row.chunk_id for row in rows)}
        (tokens,) = [np.frombuffer(row.ids, embedder.token_type) for row in rows if row.chunk_id == stored["a.py"]]
        text = "File: a.py\nLanguage: python\n\n# retry again\nx = retry(retry)\n"
        (expected,) = embedder.encode_with_tokens([text]).tokens
        assert tokens.tolist() == expected.tolist() == sorted(set(expected.tolist()))
        assert store.token_ids([99]) == []


def test_a_word_is_found_by_itself_and_by_its_like(root: Path) -> None:
    embedder = builtin()
    with index(root, embedder) as store:
        same = by_path(store, similarity_by_tokens(store, embedder, tokens_of(embedder, "retry"), chunk_ids(store)))
        like = by_path(store, similarity_by_tokens(store, embedder, tokens_of(embedder, "color"), chunk_ids(store)))
        assert same["a.py"] == 1.0
        assert same["b.py"] < 0.6
        assert 0.6 < like["b.py"] < 1.0
        assert like["a.py"] < like["b.py"]
        nothing = similarity_by_tokens(store, embedder, tokens_of(embedder, "%%"), chunk_ids(store))
        assert set(nothing.values()) == {0.0}


def test_common_words_count_less_than_rare_ones() -> None:
    embedder = builtin()
    tokens = embedder.encode_with_tokens(["the", "backoff"]).tokens
    common, rare = (float(embedder.token_weights(ids)[0]) for ids in tokens)
    assert 3 * common < rare


def test_tokens_change_with_their_file_and_with_the_model(root: Path, model_folder: Path) -> None:
    embedder = builtin()
    index(root, embedder).close()
    (root / "a.py").write_text("# paint\n")
    (root / "b.py").unlink()
    with index(root, embedder) as store:
        assert by_path(
            store, similarity_by_tokens(store, embedder, tokens_of(embedder, "paint"), chunk_ids(store))
        ) == {"a.py": 1.0}
        assert store.value("SELECT count(*) FROM chunk_tokens") == 1
    tiny = StaticEmbedder(from_folder(model_folder))
    with index(root, tiny) as store:
        assert by_path(store, similarity_by_tokens(store, tiny, tokens_of(tiny, "paint"), chunk_ids(store))) == {
            "a.py": 1.0
        }
    with index(root, None) as store:
        assert store.token_ids(chunk_ids(store)) == []
