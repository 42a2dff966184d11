"""The user's settings file."""

from pathlib import Path

from platformdirs import user_config_path

# What only the explorer reads (`tui/user_choices.py`): a mistake there must not stop commands and servers.
EXPLORER_SECTIONS = frozenset(["keys", "theme", "themes"])


def user_file() -> Path:
    """Return the path of the user's settings file, which may not exist."""
    return user_config_path("keyhole") / "config.toml"
