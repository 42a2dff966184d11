"""The explorer with keys and themes of the user's settings, in a terminal and without."""

from collections.abc import Callable
from pathlib import Path

import pytest
from driving import drive, make_app, press, settle
from test_tui_terminal import Terminal, root, start
from textual.pilot import Pilot

from keyhole.core.service import Service
from keyhole.tui.user_choices import UserChoices, choices_from

__all__ = ["root", "start"]

MINE = {"primary": "#123456", "background": "#0a0b0c"}
SETTINGS = """
theme = "mine"

[themes.mine]
primary = "#123456"
background = "#0a0b0c"

[keys]
theme = "f8"
serve = "ctrl+k"
next-tab = "alt+x"
"""
F1, F8 = "\x1bOP", "\x1b[19~"


@pytest.fixture
def user_file(root: Path) -> Path:
    path = root.parent / ".config/keyhole/config.toml"
    path.parent.mkdir(parents=True)
    return path


def colour(text: str) -> bytes:
    """A background as the terminal gets it."""
    return f"48;2;{';'.join(str(int(text[at : at + 2], 16)) for at in (1, 3, 5))}".encode()


def test_keys_and_themes_of_the_user(start: Callable[..., Terminal], user_file: Path) -> None:
    user_file.write_text(SETTINGS)
    terminal = start(COLORTERM="truecolor")
    terminal.shows("✓ current")
    # The theme is right from the first frame on.
    assert colour("#0a0b0c") in terminal.output
    assert colour("#12151a") not in terminal.output
    # The new key works while text is typed, where the old one would be a letter.
    terminal.send_and_see(F8, colour("#faf8f3"))
    terminal.send_and_see(F8, colour("#0a0b0c"))
    terminal.send_and_see("\x1b3", b"Press ^k to serve agents")
    terminal.send_and_see(F1, b"alt+x")
    # The keys that work everywhere are at the end of the help.
    terminal.send_and_see("G", b"Switch between the dark and the light theme")
    terminal.shows("  f8  ")


def test_wrong_settings_say_so_and_the_rest_is_used(start: Callable[..., Terminal], user_file: Path) -> None:
    user_file.write_text('theme = "nrod"\n[keys]\ncpy = "f5"\nserve = "f6"\n')
    terminal = start()
    terminal.shows("theme: there is no theme 'nrod'.")
    terminal.shows("keys.cpy: there is no such command.")
    terminal.shows("The defaults are used instead.")
    terminal.send_and_see("\x1b3", b"Press f6 to serve agents")


def run_with(acme: Service, choices: UserChoices, *keys: str) -> list[str]:
    """Press keys; return the theme before and after each."""
    app = make_app(acme)
    app.use_choices(choices)
    themes = [app.theme]

    async def steps(pilot: Pilot[None]) -> None:
        for key in keys:
            await press(pilot, key)
            themes.append(app.theme)

    drive(app, steps)
    return themes


def test_t_switches_between_the_chosen_theme_and_ours(acme: Service) -> None:
    dark = choices_from({"theme": "mine", "themes": {"mine": MINE}})
    assert run_with(acme, dark, "escape", "t", "t")[1:] == ["mine", "keyhole-light", "mine"]
    light = choices_from({"theme": "solarized-light"})
    assert run_with(acme, light, "escape", "t", "t")[1:] == ["solarized-light", "keyhole-dark", "solarized-light"]
    assert run_with(acme, UserChoices(), "escape", "t", "t")[1:] == ["keyhole-dark", "keyhole-light", "keyhole-dark"]


def test_every_theme_can_be_drawn(acme: Service) -> None:
    app = make_app(acme)

    async def steps(pilot: Pilot[None]) -> None:
        for name in app.available_themes:
            app.theme = name
            await settle(pilot)
            assert {"border-quiet", "text-muted"} <= app.theme_variables.keys()

    drive(app, steps, size=(60, 16))
