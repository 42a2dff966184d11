"""One open workspace, by job: its paths, its model, the readers of its index, and results that are fresh."""
