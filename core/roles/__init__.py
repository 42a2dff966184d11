"""The role of each file: source, test, documentation, built output and so on, by names, content and neighbours."""
