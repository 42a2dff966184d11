"""The table `fact`: facts about the whole index of a repository, or of several together."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import fields

from psycopg.types.json import Jsonb

from keyhole.core.index.rows import FactName, IndexFacts
from keyhole.core.postgres.repository_rows import RepositoryRows
from keyhole.core.postgres.repository_set import RepositorySet

_NAMES = frozenset(field.name for field in fields(IndexFacts))
# How many chunks there are, and how many words they have together; BM25 needs both.
CHUNKS, WORDS = "chunk_count", "word_count"
Facts = dict[str, int | str]
_ALL = "SELECT repo, name, value FROM fact WHERE repo = %(repo)s ORDER BY repo"
_ADDED = ("generation", "pending", "total", CHUNKS, WORDS)
_SHARED = ("model", "dimension", "rules", "secrets")
_PUT = """INSERT INTO fact (repo, name, value) VALUES (%(repo)s, %(name)s, %(value)s)
    ON CONFLICT (repo, name) DO UPDATE SET value = excluded.value"""


class PostgresFacts(RepositoryRows):
    """Facts by name; they are kept while a snapshot or a transaction makes sure that nobody else changes them."""

    def __init__(self, url: str, repositories: RepositorySet) -> None:
        super().__init__(url, repositories)
        self._known: Facts | None = None
        self._may_keep = False
        # Chunks and words that this transaction has added.
        self._more: Counter[str] = Counter()

    def facts(self) -> IndexFacts:
        """Return the facts about the whole index."""
        return IndexFacts(**{name: value for name, value in self._all_facts().items() if name in _NAMES})  # type: ignore[arg-type]  # the types of what `set_fact` was given

    def set_fact(self, name: FactName, value: int | str) -> None:
        """Record one fact about the index."""
        self._put_fact(name, value)

    def _put_fact(self, name: str, value: int | str) -> None:
        self.direct(_PUT, name=name, value=Jsonb(value))
        if self._known is not None:
            self._known[name] = value

    def _all_facts(self) -> Facts:
        if self._known is not None:
            return self._known
        of_each: dict[int, Facts] = {}
        for repository, name, value in self.direct(_ALL):
            of_each.setdefault(repository, {})[name] = value
        found = together(list(of_each.values()))
        if self._may_keep:
            self._known = found
        return found

    def _keep_facts(self, *, may_keep: bool) -> None:
        self._known, self._may_keep = None, may_keep

    def _count(self, *, chunks: int, words: int) -> None:
        """Add to the statistics of words, which are written at the end of the transaction."""
        self._more[CHUNKS] += chunks
        self._more[WORDS] += words

    def _write_counts(self) -> None:
        more, self._more = self._more, Counter()
        for name, count in more.items():
            self._put_fact(name, int(self._all_facts().get(name, 0)) + count)

    def _average_words(self) -> float:
        """Return how many words a chunk has on average; 1 if there are no chunks."""
        facts = self._all_facts()
        chunks = int(facts.get(CHUNKS, 0))
        return int(facts.get(WORDS, 0)) / chunks if chunks else 1.0


def together(of_each: Sequence[Facts]) -> Facts:
    """Return the facts about several repositories as those of one index."""
    if len(of_each) <= 1:
        return dict(of_each[0]) if of_each else {}
    # The generation grows if any of them changes.
    found: Facts = {name: sum(int(facts.get(name, 0)) for facts in of_each) for name in _ADDED}
    found["updated"] = max(str(facts.get("updated", "")) for facts in of_each)
    for name in _SHARED:
        values = {facts.get(name) for facts in of_each}
        # Vectors of different models cannot be compared, and what is not known of one is not known of all.
        if len(values) == 1 and (value := values.pop()) is not None:
            found[name] = value
    known = [int(facts["analysis"]) for facts in of_each if "analysis" in facts]
    return found | ({"analysis": min(known)} if known else {})
