"""The types that the steps of the pipeline pass to each other, a module for each step.

Everywhere, lines are 1-based and inclusive, a line ends at a line feed, and paths are POSIX paths relative to the
workspace root.
"""
