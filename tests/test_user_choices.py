"""Keys and themes from the user's settings: what can be chosen, and what a wrong choice says."""

from itertools import chain
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.binding import Binding

from keyhole.core.config import load_settings
from keyhole.core.errors import ConfigError
from keyhole.tui import keys
from keyhole.tui.key_names import character_of
from keyhole.tui.user_choices import UserChoices, choices_from, read_user_choices
from keyhole.tui.user_keys import read_keys

COMMANDS = sorted(
    {
        row.id
        for rows in (keys.EVERYWHERE, *keys.SCREENS.values(), *keys.PANES.values(), *keys.DIALOGS.values())
        for row in rows
        if isinstance(row, Binding) and row.id
    }
)
KEYS = ["y", "Y", "f5", "ctrl+s", "alt+x", "?", "/", "enter", "escape", "n", "ctrl+k", "pagedown", "shift+f3"]


def keys_and_problems(chosen: object) -> tuple[dict[str, str], list[str]]:
    problems: list[str] = []
    return read_keys(chosen, problems), problems


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ("f5", "f5"),
        ("S", "S"),
        ("!", "exclamation_mark"),
        ("\\", "backslash"),
        ("shift+k", "K"),
        ("ctrl+S", "ctrl+s"),
        ("Ctrl+Alt+k", "ctrl+alt+k"),
        ("alt+ctrl+k", "ctrl+alt+k"),
        ("Insert", "insert"),
        ("backslash", "backslash"),
        ("dollar_sign", "dollar_sign"),
        (";", "semicolon"),
        ("#", "number_sign"),
        ("@", "at"),
        ("é", "é"),
        (["f5", "f6"], "f5,f6"),
    ],
)
def test_names_of_keys(given: object, found: str) -> None:
    assert keys_and_problems({"serve": given}) == ({"serve": found}, [])


@pytest.mark.parametrize(
    ("chosen", "problem"),
    [
        ({"cpy": "f5"}, "keys.cpy: there is no such command. Did you mean copy?"),
        ({"zzzz": "f5"}, "keys.zzzz: there is no such command. The names are in docs/keys.md"),
        ({"copy": "f55"}, "keys.copy: there is no key 'f55'. Use names such as a, A, ?, f5, ctrl+s, alt+x, pagedown"),
        ({"copy": "meta+x"}, "keys.copy: there is no key 'meta+x'. Use names"),
        ({"copy": "ctrl+"}, "keys.copy: there is no key 'ctrl+'. Use names"),
        ({"copy": 5}, 'keys.copy: must be the name of a key, such as "f5", or a list of them'),
        ({"copy": []}, "keys.copy: must be the name of a key"),
        ({"copy": ["f5", 1]}, "keys.copy: must be the name of a key"),
        ({"copy": "ctrl+m"}, "keys.copy: terminals can't tell ctrl+m from enter. Choose another key"),
        ({"copy": "e"}, "keys.copy: e is the key of edit in the same place. Choose another key"),
        ({"copy": "q"}, "keys.copy: q is the key of quit in the same place. Choose another key"),
        ({"copy": "ctrl+c"}, "keys.copy: ctrl+c is the key of quit-now in the same place. Choose another key"),
        ({"save-query": "x"}, "keys.save-query: x types a character there. Choose a key such as f5 or ctrl+s"),
        ({"quit-now": "f5"}, "keys.quit-now: this command can't have other keys. Remove quit-now, and change 'quit'"),
        ("y", "keys must be a table: [keys]"),
    ],
)
def test_a_wrong_key_says_why_and_what_to_do(chosen: object, problem: str) -> None:
    found, problems = keys_and_problems(chosen)
    assert found == {}
    assert len(problems) == 1
    assert problems[0].startswith(problem)


def test_two_commands_can_exchange_their_keys() -> None:
    assert keys_and_problems({"copy": "e", "edit": "y"}) == ({"copy": "e", "edit": "y"}, [])


def test_a_choice_that_another_one_needs_goes_with_it() -> None:
    """If edit keeps its key, copy can't have it."""
    found, problems = keys_and_problems({"copy": "e", "edit": "f55"})
    assert found == {}
    assert len(problems) == 2


def test_a_letter_for_moving_leaves_the_arrows_of_lines() -> None:
    assert keys_and_problems({"down": ["ctrl+n", "J"]}) == ({"down": "ctrl+n,J"}, [])


@given(st.dictionaries(st.sampled_from(COMMANDS), st.sampled_from(KEYS), max_size=6))
def test_no_choice_gives_a_key_two_meanings(chosen: dict[str, str]) -> None:
    found, problems = keys_and_problems(chosen)
    # Each choice is used, or there is a reason.
    assert len(found) + len(problems) == len(chosen)
    for screen, panes in keys.PANES_OF.items():
        for pane in (*panes, None):
            chain_of = [keys.EVERYWHERE, keys.SCREENS[screen], *([keys.PANES[pane]] if pane else [])]
            meanings: dict[str, set[str]] = {}
            for row in chain(*chain_of):
                assert isinstance(row, Binding)
                in_line = any(row in line for line in keys.LINES)
                for key in found.get(row.id or "", row.key).split(","):
                    if not (in_line and row.id in found and character_of(key)):
                        meanings.setdefault(key, set()).add(row.id or "")
            doubled = {key: names for key, names in meanings.items() if len(names) > 1 and names & found.keys()}
            assert doubled == {}


MINE = {"primary": "#ff0000", "dark": False, "muted": "#777777", "background": "white"}


def test_own_themes() -> None:
    found = choices_from({"theme": "mine", "themes": {"mine": MINE}})
    assert (found.theme, found.problems) == ("mine", ())
    (theme,) = found.themes
    assert (theme.name, theme.primary, theme.dark) == ("mine", "#ff0000", False)
    assert theme.variables == {"text-muted": "#777777"}


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"theme": "nrod"}, "theme: there is no theme 'nrod'. Did you mean nord"),
        ({"theme": 3}, "theme: there is no theme '3'. Choose from: keyhole-dark, keyhole-light,"),
        ({"theme": "a\nb"}, "theme: there is no theme 'a\\nb'"),
        ({"themes": {"mine": {"dark": True}}}, "themes.mine: needs a primary colour, such as primary = '#e3b663'"),
        (
            {"themes": {"mine": {"primary": "#12"}}},
            "themes.mine: primary = '#12' is not a colour; write it as '#rrggbb'",
        ),
        ({"themes": {"mine": {"primary": "ansi_red"}}}, "themes.mine: primary = 'ansi_red' is not a colour"),
        ({"themes": {"mine": {"primary": "auto"}}}, "themes.mine: primary = 'auto' is not a colour"),
        ({"themes": {"mine": MINE | {"primry": "red"}}}, "themes.mine: unknown colour 'primry'. Did you mean primary?"),
        ({"themes": {"mine": MINE | {"dark": "no"}}}, "themes.mine: dark must be true or false"),
        ({"themes": {"mine": 3}}, "themes.mine must be a table: [themes.mine]"),
        ({"themes": {"a,b": MINE}}, "themes.a,b: needs a name without commas and control characters"),
        ({"themes": 3}, "themes must be tables: [themes.NAME]"),
    ],
)
def test_a_wrong_theme_says_why_and_what_to_do(settings: dict[str, object], problem: str) -> None:
    found = choices_from(settings)
    assert (found.theme, found.themes) == ("", ())
    assert len(found.problems) == 1
    assert found.problems[0].startswith(problem)


@pytest.fixture
def user_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    path = tmp_path / "config/keyhole/config.toml"
    path.parent.mkdir(parents=True)
    return path


def test_the_notice_names_the_file(user_file: Path) -> None:
    user_file.write_text('theme = "nrod"\n[keys]\na = "x"\nb = "x"\nc = "x"\n')
    found = read_user_choices()
    assert len(found.problems) == 4
    assert found.notice.count("\n") == 4
    assert "and 1 more" in found.notice
    assert found.notice.endswith(f"The defaults are used instead. Change {user_file} and start again.")


@pytest.mark.parametrize("content", [b"", b"theme = ", b"\xff", b"[search]\ntop_k = 3\n"])
def test_a_file_without_choices(user_file: Path, content: bytes) -> None:
    """One that is not valid stops the explorer as it opens the workspace, with a message."""
    user_file.write_bytes(content)
    assert read_user_choices() == UserChoices()


def test_no_file(user_file: Path) -> None:
    assert not user_file.exists()
    assert read_user_choices() == UserChoices()


def test_commands_do_not_mind_wrong_keys_and_themes(user_file: Path, tmp_path: Path) -> None:
    user_file.write_text("theme = 3\nkeys = 4\n[themes]\nmine = 5\n[search]\ntop_k = 3\n")
    assert load_settings(tmp_path).search.top_k == 3


@pytest.mark.parametrize("text", ['theme = "nord"\n', '[keys]\ncopy = "x"\n', "[themes.mine]\nprimary = 'red'\n"])
def test_a_workspace_can_set_neither(user_file: Path, tmp_path: Path, text: str) -> None:
    root = tmp_path / "project"
    root.mkdir()
    (root / "keyhole.toml").write_text(text)
    with pytest.raises(ConfigError, match=r"keyhole\.toml: (theme|keys\.copy|themes\..*) cannot be set by a workspace"):
        load_settings(root)
    assert not user_file.exists()
