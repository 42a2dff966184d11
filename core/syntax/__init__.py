"""From text to symbols, imports and chunks."""
