"""Serves the explorer to browsers: one explorer process for each open page, behind a token."""
