"""Does PostgreSQL rank as SQLite does? The labelled queries of bench/quality, asked of both engines.

    .venv/bin/python bench/team_quality.py --place FOLDER [--record]

Each project of the tune half is indexed in a file and on a PostgreSQL server, which is started in --place. Every query
is searched in the modes that rank (hybrid and keyword); the result lists are compared one by one, and so is the NDCG.
Another half says nothing more about the engines, so the held-out one is not looked at. Delete --place afterwards.
"""

import argparse
from pathlib import Path

from corpus import Query as Label
from corpus import fetch_project, load_projects
from own_postgres import OwnPostgres
from quality_ours import MAX_BYTES, Engines, answered, load
from quality_scores import ALL, Searcher, average
from record import save_record

from keyhole.core.files.read import SourceReader
from keyhole.core.index.model import open_embedder
from keyhole.core.index.model_folder import BUILTIN
from keyhole.core.index.update import Request, update_index
from keyhole.core.postgres.postgres_home import PostgresHome
from keyhole.core.postgres.server_admin import create_tables
from keyhole.core.search.engine import Engine
from keyhole.core.types.choices import Mode

SPLIT = "tune"
MODES = (Mode.HYBRID, Mode.KEYWORD)
MOST_DIFFERENCE = 0.005


def main() -> None:
    """Index, ask both engines, and print the figures; fail if they differ too much."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--place", type=Path, required=True, help="folder for the database")
    options.add_argument("--record", action="store_true")
    chosen = options.parse_args()
    server = OwnPostgres(chosen.place.resolve())
    server.start()
    try:
        create_tables(server.url)
        labels, in_files = load(SPLIT)
        on_server = engines_on(server.url)
        figures = {str(mode): compared(labels, answered(in_files, mode), answered(on_server, mode)) for mode in MODES}
        for engine in (*in_files.values(), *on_server.values()):
            engine.store.close()
    finally:
        server.stop()
    for mode, found in figures.items():
        print(mode, found)
    if chosen.record:
        save_record("team-quality", {"split": SPLIT, "queries": len(labels), **figures})
    if any(abs(float(found["difference"])) > MOST_DIFFERENCE for found in figures.values()):
        raise SystemExit(f"the NDCG differs by more than {MOST_DIFFERENCE}")


def engines_on(url: str) -> Engines:
    """Index the projects on a server."""
    embedder = open_embedder(BUILTIN)
    engines = {}
    for project in load_projects():
        if project["split"] == SPLIT:
            root = fetch_project(project).resolve()
            home = PostgresHome(url, str(project["name"]), root)
            update_index(Request(root, root, MAX_BYTES, workers=2, embedder=embedder, elsewhere=home))
            store = home.open_reader()
            home.close()
            engines[str(project["name"])] = Engine(store, SourceReader(root, MAX_BYTES), embedder=embedder)
    return engines


def compared(labels: list[Label], files: Searcher, server: Searcher) -> dict[str, float]:
    """Return the NDCG of both engines, and for how many queries their lists differ."""
    differing = sum(files(one["project"], one["query"]) != server(one["project"], one["query"]) for one in labels)
    in_files, on_server = (average(searcher, labels)[ALL]["line"] for searcher in (files, server))
    return {
        "sqlite": round(in_files, 4),
        "postgres": round(on_server, 4),
        "difference": round(on_server - in_files, 4),
        "queries with other results": differing,
    }


if __name__ == "__main__":
    main()
