"""Checks of what agents can see: parse the files that list them, run each kind, and report."""
