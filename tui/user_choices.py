"""What the user's settings file chooses for the explorer: a theme, own themes, and keys.

A wrong value is never an error: the explorer starts with the default instead, and says so. The first frame needs all of
this, so nothing is imported if there is no such file.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from keyhole.core.user_file import user_file

if TYPE_CHECKING:
    from textual.theme import Theme


# More would not fit on a small screen.
_MOST_SHOWN = 3


@dataclass(frozen=True, slots=True)
class UserChoices:
    """The valid choices, and what is wrong with the others."""

    theme: str = ""
    themes: "tuple[Theme, ...]" = ()
    # The keys of commands, as Textual writes them, by the name of the command.
    keys: Mapping[str, str] = field(default_factory=dict)
    problems: tuple[str, ...] = ()

    @property
    def notice(self) -> str:
        """What to show about the problems: what is wrong, and what to do."""
        listed = "\n".join(f"· {problem}" for problem in self.problems[:_MOST_SHOWN])
        more = len(self.problems) - _MOST_SHOWN
        rest = f"\n· and {more} more" if more > 0 else ""
        return f"{listed}{rest}\nThe defaults are used instead. Change {user_file()} and start again."


def read_user_choices() -> UserChoices:
    """Read the user's file; without one, there is nothing to choose."""
    path = user_file()
    try:
        content = path.read_bytes()
    except OSError:
        # If it can't be read, opening the workspace fails with the reason.
        return UserChoices()
    import tomllib

    try:
        return choices_from(tomllib.loads(content.decode()))
    except (ValueError, RecursionError):
        return UserChoices()


def choices_from(settings: Mapping[str, object]) -> UserChoices:
    """Return the choices in some settings."""
    from keyhole.tui.user_themes import known_theme, read_themes

    problems: list[str] = []
    keys: Mapping[str, str] = {}
    if "keys" in settings:
        from keyhole.tui.user_keys import read_keys

        keys = read_keys(settings["keys"], problems)
    themes = read_themes(settings.get("themes", {}), problems)
    theme = known_theme(settings["theme"], themes, problems) if "theme" in settings else ""
    return UserChoices(theme, themes, keys, tuple(problems))
