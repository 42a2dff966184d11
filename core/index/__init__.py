"""The index: one SQLite file per workspace, updated in small transactions."""
