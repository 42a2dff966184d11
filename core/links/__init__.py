"""Links between files: found in one file's text, and resolved against every path of the workspace."""
