"""Keyhole: see your codebase the way your agent does."""
