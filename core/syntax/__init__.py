"""Parsing text into symbols, imports and chunks."""
