"""An open workspace: its paths, its model, the readers of its index, and results from the current files."""
