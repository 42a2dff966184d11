"""The index: one SQLite file per workspace, brought up to date one transaction at a time."""
