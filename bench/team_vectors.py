"""Does an approximate index of vectors pay off? Exact comparison of signs against pgvector's HNSW.

    .venv/bin/python bench/team_vectors.py --place FOLDER [--chunks 300000] [--record]

FOLDER is that of bench/team.py, with a database. Its signs are copied into a table of the same form, in as many
partitions. If there are fewer than --chunks, copies of them with one sign in ten flipped stand for more. Each way finds
the nearest 256 chunks of 100 chunks over all repositories: `scan` is the statement of the store, `memory` what a server
does after its first searches (core/search/sign_cache.py), `hnsw` the index of each partition, with more and more
effort. Times are CPU times: of the database, or of this process for `memory`. The table is deleted at the end.
"""

import argparse
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from own_postgres import OwnPostgres
from pgvector import Bit
from record import save_record
from team import SETTINGS

from keyhole.core.index.rows import ChunkScope, ChunkSigns, IndexFacts
from keyhole.core.postgres.postgres_schema import PARTITIONS
from keyhole.core.postgres.server_connection import Connection, connect
from keyhole.core.search.sign_cache import SignCache

NEAREST, QUERIES = 256, 100
EFFORTS = (40, 100, 256)
_FLIPPED = 0.1
_LOADING_QUERIES = 10
_TABLE = """CREATE TABLE bench_signs (repo integer NOT NULL, chunk_id bigint NOT NULL, signs varbit NOT NULL)
    PARTITION BY HASH (repo)"""
Nearest = Callable[[bytes], list[int]]


class Signs:
    """All signs, as a store gives them to the cache of a server."""

    def __init__(self, rows: list[ChunkSigns]) -> None:
        self._rows = rows

    def facts(self) -> IndexFacts:
        """Return facts that never change."""
        return IndexFacts(generation=1)

    def all_signs(self) -> list[ChunkSigns]:
        """Return the signs of all chunks."""
        return self._rows


def main() -> None:
    """Measure, print the figures, and with --record store them."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--place", type=Path, required=True, help="the folder of bench/team.py")
    options.add_argument("--chunks", type=int, default=300_000)
    options.add_argument("--record", action="store_true")
    chosen = options.parse_args()
    server = OwnPostgres(chosen.place.resolve() / "postgres", SETTINGS)
    server.start()
    try:
        with connect(server.url) as db:
            figures = measured(db, chosen.chunks)
            db.execute("DROP TABLE bench_signs")
    finally:
        server.stop()
    for name, figure in figures.items():
        print(f"{name:<60}{figure:>14,.3f}")
    if chosen.record:
        print("recorded as", save_record("team-vectors", figures))


def measured(db: Connection, chunks: int) -> dict[str, float]:
    """Fill the table and compare the ways."""
    rows, bits = fill(db, chunks)
    asked = [rows[place].signs for place in np.random.default_rng(2).integers(len(rows), size=QUERIES)]
    figures: dict[str, float] = {"chunks": len(rows)}
    exact, figures["scan, ms"] = timed(lambda own: scan(db, own), asked, lambda: cpu_of(db))
    cache, store = SignCache(), Signs(rows)
    # A server scans until it has loaded the signs; then it never asks the store.
    for own in asked[:_LOADING_QUERIES]:
        with suppress(AttributeError):
            cache.nearest(store, own, ChunkScope(), NEAREST)  # type: ignore[arg-type]
    _, figures["memory, ms"] = timed(
        lambda own: cache.nearest(store, own, ChunkScope(), NEAREST),  # type: ignore[arg-type]
        asked,
        time.process_time,
    )
    began = cpu_of(db)
    db.execute("SET maintenance_work_mem = '1GB'; SET max_parallel_maintenance_workers = 0")
    db.execute(f"CREATE INDEX ON bench_signs USING hnsw ((signs::bit({bits})) bit_hamming_ops)")
    figures["hnsw, seconds to build"] = cpu_of(db) - began
    size = "SELECT sum(pg_relation_size(indexrelid)) / 1e6 FROM pg_index JOIN pg_class ON oid = indrelid"
    figures["hnsw, MB"] = float(str(one(db, f"{size} WHERE relname LIKE 'bench_signs%'")))
    for effort in EFFORTS:
        db.execute(f"SET hnsw.ef_search = {effort}; SET hnsw.iterative_scan = relaxed_order")
        found, figures[f"hnsw, ef_search {effort}, ms"] = timed(
            lambda own: by_index(db, own, bits), asked, lambda: cpu_of(db)
        )
        # Those that are as far as the last one count too.
        shares = [len(set(near) & set(right)) / NEAREST for near, right in zip(found, exact, strict=True)]
        figures[f"hnsw, ef_search {effort}, share of the nearest {NEAREST}"] = float(np.mean(shares))
    return figures


def fill(db: Connection, chunks: int) -> tuple[list[ChunkSigns], int]:
    """Copy signs into the table; return them and their length in bits."""
    db.execute("DROP TABLE IF EXISTS bench_signs")
    db.execute(_TABLE)
    for number in range(PARTITIONS):
        part = f"CREATE UNLOGGED TABLE bench_signs_{number} PARTITION OF bench_signs"
        db.execute(f"{part} FOR VALUES WITH (MODULUS {PARTITIONS}, REMAINDER {number})")
    known = db.execute("SELECT repo, chunk_id, substring(varbit_send(signs) FROM 5) FROM chunk_signs").fetchall()
    bits = 8 * len(known[0][2])
    signs: NDArray[np.uint8] = np.unpackbits(
        np.frombuffer(b"".join(row[2] for row in known), np.uint8).reshape(len(known), -1), axis=1
    )
    chance, rows = np.random.default_rng(1), list[ChunkSigns]()
    with db.cursor() as cursor, cursor.copy("COPY bench_signs FROM STDIN (FORMAT BINARY)") as copy:
        copy.set_types(["integer", "bigint", "varbit"])
        for number in range(chunks):
            own = signs[number % len(known)]
            if number >= len(known):
                own = own ^ (chance.random(bits) < _FLIPPED)
            packed = np.packbits(own).tobytes()
            copy.write_row((known[number % len(known)][0], number, Bit(packed)))
            rows.append(ChunkSigns(number, packed))
    db.execute("ANALYZE bench_signs")
    return rows, bits


def scan(db: Connection, own: bytes) -> list[int]:
    """Compare all signs."""
    nearest = "SELECT chunk_id FROM bench_signs ORDER BY signs <~> %s::varbit FETCH FIRST %s ROWS WITH TIES"
    return [row[0] for row in db.execute(nearest, [Bit(own), NEAREST])]


def by_index(db: Connection, own: bytes, bits: int) -> list[int]:
    """Search the index of each partition."""
    nearest = f"SELECT chunk_id FROM bench_signs ORDER BY signs::bit({bits}) <~> %s::bit({bits}) LIMIT %s"
    return [row[0] for row in db.execute(nearest, [Bit(own), NEAREST])]


def timed(nearest: Nearest, asked: list[bytes], clock: Callable[[], float]) -> tuple[list[list[int]], float]:
    """Return what each question finds, and the milliseconds of one."""
    nearest(asked[0])
    began = clock()
    found = [nearest(own) for own in asked]
    return found, (clock() - began) / len(asked) * 1e3


def cpu_of(db: Connection) -> float:
    """Return the seconds of CPU time that the database has used for this connection; it is on this machine."""
    nanoseconds = Path(f"/proc/{db.info.backend_pid}/schedstat").read_text().split()[0]
    return int(nanoseconds) / 1e9


def one(db: Connection, sql: str) -> object:
    """Return the only value that a statement gives."""
    row = db.execute(sql).fetchone()
    return row[0] if row else None


if __name__ == "__main__":
    main()
