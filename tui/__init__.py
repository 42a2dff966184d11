"""The terminal explorer, and the console entry point."""
