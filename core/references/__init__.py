"""Who uses a definition: occurrences of its name, how certain each one is, callers, callees and hierarchies."""
