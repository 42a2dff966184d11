"""The index on a PostgreSQL server, behind the same interface as the SQLite file; only `store.url` selects it."""
