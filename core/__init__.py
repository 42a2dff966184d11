"""Everything below the front ends: files, symbols, chunks, index, search, views."""
