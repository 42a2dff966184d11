"""The command line: main.py is the entry point, and each group of commands has a module."""
