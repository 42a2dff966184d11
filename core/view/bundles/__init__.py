"""Context bundles: marked files, symbols and lines as one text, within a budget."""
