"""The headless heart: files, symbols, chunks, index, search, views."""
