"""Reads: lines of one or several files within one budget."""
