"""The command line: main.py is where it starts, and each group of commands has a module."""
