"""Links between files: extracted from the text of a file, and resolved against all paths of the workspace."""
