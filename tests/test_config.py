"""Where settings come from, and the errors for invalid ones."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from keyhole.core.config import Settings, load_settings, setting_keys, setting_ranges
from keyhole.core.errors import ConfigError
from keyhole.core.service import Service


@pytest.fixture(autouse=True)
def clean_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Set up an empty user folder and no KEYHOLE_ variables; return the path of the user's file."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home/.config"))
    for variable in ("KEYHOLE_CACHE_DIR", "KEYHOLE_INDEX_MAX_FILE_BYTES"):
        monkeypatch.delenv(variable, raising=False)
    folder = tmp_path / "home/.config/keyhole"
    folder.mkdir(parents=True)
    return folder / "config.toml"


def test_each_source_goes_before_the_next(
    tmp_path: Path, clean_environment: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def limit(**flags: object) -> int:
        return load_settings(tmp_path, {"index.max_file_bytes": flags.get("flag")}).index.max_file_bytes

    assert limit() == 1_000_000
    clean_environment.write_text("[index]\nmax_file_bytes = 1\n")
    assert limit() == 1
    (tmp_path / "keyhole.toml").write_text("[index]\nmax_file_bytes = 2\n")
    assert limit() == 2
    monkeypatch.setenv("KEYHOLE_INDEX_MAX_FILE_BYTES", "3")
    assert limit() == 3
    assert limit(flag=4) == 4


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[index]\nmax_file_byte = 1\n", "unknown key index.max_file_byte. Did you mean index.max_file_bytes"),
        ("[indx]\n", "unknown key indx. Did you mean index?"),
        (
            "[index]\nmax_file_bytes = 0\n",
            "keyhole.toml: index.max_file_bytes = 0: must be a whole number from 1 to 50,",
        ),
        ("[index]\nmax_file_bytes = 'x'\n", 'index.max_file_bytes = "x": must be a whole number from 1 to 50,000,000'),
        (
            "[index]\nmax_file_bytes = 9000000000000\n",
            "max_file_bytes = 9000000000000: must be a whole number from 1 to",
        ),
        ("[search]\nmode = 'hybird'\n", "Did you mean hybrid?"),
        ("index = 3\n", "keyhole.toml: index = 3: must be a table, [index]"),
        ("clients = 3\n", "keyhole.toml: clients = 3: must be a table, [clients]"),
        ("[clients]\ncodex = 3\n", "keyhole.toml: clients.codex = 3: must be a table, [clients.codex]"),
        (
            "[clients.codex]\nmax_token = 3\n",
            "unknown key clients.codex.max_token. Did you mean clients.NAME.max_tokens?",
        ),
        ("[clients.a.b.c]\nd = 3\n", "unknown key clients.a.b.c"),
        (
            "[mcp]\ntools = 'cor'\n",
            "keyhole.toml: mcp.tools = \"cor\": Input should be 'all' or 'core'. Did you mean core?",
        ),
        ("cache_dir = '/tmp'\n", "cannot be set by a workspace"),
        ("[index\n", "keyhole.toml is not valid TOML"),
    ],
)
def test_wrong_settings_are_named(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "keyhole.toml").write_text(text)
    with pytest.raises(ConfigError) as caught:
        load_settings(tmp_path)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("setting", "digits", "message"),
    [
        ("[index]\nmax_file_bytes = ", "9", "keyhole.toml is not valid TOML: a number has too many digits"),
        # Python reads such a number, but does not write it.
        ("[index]\nmax_file_bytes = 0x", "f", "index.max_file_bytes = a number that is too large: must be"),
        ("[search]\nmode = 0x", "f", "search.mode = a number that is too large: "),
    ],
)
def test_a_number_with_thousands_of_digits_is_an_error(
    tmp_path: Path, clean_environment: Path, setting: str, digits: str, message: str
) -> None:
    for file in (tmp_path / "keyhole.toml", clean_environment):
        file.write_text(setting + digits * 5_000)
        with pytest.raises(ConfigError) as caught:
            load_settings(tmp_path)
        assert message.removeprefix("keyhole.toml") in str(caught.value)
        file.unlink()


@pytest.mark.parametrize("key", setting_ranges())
def test_every_number_has_a_range_and_an_error_names_where_it_was_set(
    clean_environment: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    lowest, highest = setting_ranges()[key]
    expected = f"must be a whole number from {lowest:,} to {highest:,}"
    section, _, name = key.partition(".")
    for value in (lowest - 1, highest + 1, 10**400, -(10**400), "1.5", "nan"):
        clean_environment.write_text(f"[{section}]\n{name} = {value}\n")
        with pytest.raises(ConfigError) as caught:
            load_settings(tmp_path)
        assert str(caught.value).startswith(f"{clean_environment}: {key} = ")
        assert str(caught.value).endswith(f": {expected}")
    for value in (lowest, highest):
        clean_environment.write_text(f"[{section}]\n{name} = {value}\n")
        load_settings(tmp_path)
    variable = f"KEYHOLE_{section}_{name}".upper().replace(".", "_")
    monkeypatch.setenv(variable, str(highest + 1))
    with pytest.raises(ConfigError) as caught:
        load_settings(tmp_path)
    assert str(caught.value) == f'environment: {variable} = "{highest + 1}": {expected}'


def test_every_setting_that_is_a_number_is_in_a_range() -> None:
    numbers = {key for key, value in _values(Settings().model_dump()) if type(value) is int}
    # Their defaults depend on the client, so there is no number yet.
    assert set(setting_ranges()) - numbers == {"view.max_tokens", "clients.NAME.max_tokens"}
    assert numbers <= set(setting_ranges())


def _values(tree: dict[str, object], prefix: str = "") -> Iterator[tuple[str, object]]:
    for name, value in tree.items():
        if isinstance(value, dict):
            yield from _values(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


@pytest.mark.parametrize("value", ["~nobody-of-this-name/cache", "a\\u0000b"])
@pytest.mark.parametrize("key", ["cache_dir", "index.model"])
def test_a_path_that_no_system_accepts_is_no_traceback(
    clean_environment: Path, tmp_path: Path, key: str, value: str
) -> None:
    clean_environment.write_text(f'{key} = "{value}"\n')
    (tmp_path / "a.py").write_text("x = 1\n")
    try:
        service = Service(tmp_path, load_settings(tmp_path))
    except ConfigError as error:
        assert str(error).startswith(f"{clean_environment}: {key} = ")  # noqa: PT017  # either is fine
    else:
        assert service._models.problem


def test_an_unknown_variable_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEYHOLE_CACHEDIR", "/tmp/x")
    with pytest.raises(
        ConfigError, match=r"environment: unknown key KEYHOLE_CACHEDIR\. Did you mean KEYHOLE_CACHE_DIR"
    ):
        load_settings(tmp_path)


def test_the_cache_folder_can_be_moved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEYHOLE_CACHE_DIR", str(tmp_path / "cache"))
    assert load_settings(tmp_path).cache_dir == tmp_path / "cache"


def test_each_client_may_have_its_own_setting(
    tmp_path: Path, clean_environment: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clean_environment.write_text('[clients.codex]\nmax_tokens = 5000\n[clients."my.own client"]\nmax_tokens = 6000\n')
    (tmp_path / "keyhole.toml").write_text('[clients.zed]\n[clients."claude-code"]\nmax_tokens = 7000\n')
    monkeypatch.setenv("KEYHOLE_CLIENTS_CLAUDE_CODE_MAX_TOKENS", "8000")
    found = {name: own.max_tokens for name, own in load_settings(tmp_path).clients.items()}
    assert found == {"codex": 5_000, "my.own client": 6_000, "claude-code": 8_000}


def test_no_workspace_raises_a_budget_over_the_maximum(tmp_path: Path) -> None:
    for section in ("view", "clients.codex"):
        (tmp_path / "keyhole.toml").write_text(f"[{section}]\nmax_tokens = 25001\n")
        with pytest.raises(ConfigError) as caught:
            load_settings(tmp_path)
        expected = f"keyhole.toml: {section}.max_tokens = 25001: must be a whole number from 1,000 to 25,000"
        assert str(caught.value) == expected


def test_an_empty_section_is_fine(tmp_path: Path) -> None:
    (tmp_path / "keyhole.toml").write_text("[index]\n")
    assert load_settings(tmp_path).index.max_file_bytes == 1_000_000


def test_a_workspace_file_that_leads_elsewhere_is_not_read(tmp_path: Path) -> None:
    root = tmp_path / "proj"
    root.mkdir()
    (tmp_path / "other.toml").write_text("[index]\nmax_file_bytes = 9\n")
    (root / "keyhole.toml").symlink_to(tmp_path / "other.toml")
    with pytest.raises(ConfigError, match=r"cannot read keyhole\.toml"):
        load_settings(root)


def test_every_key_is_described() -> None:
    assert all(setting_keys().values())


def test_a_home_folder_is_expanded_and_an_empty_variable_is_unset(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KEYHOLE_CACHE_DIR", "~/cache")
    assert load_settings(tmp_path).cache_dir == tmp_path / "home/cache"
    monkeypatch.setenv("KEYHOLE_CACHE_DIR", "")
    assert load_settings(tmp_path).cache_dir.is_absolute()


def test_a_hostile_file_is_refused_quickly(tmp_path: Path) -> None:
    (tmp_path / "keyhole.toml").write_text(".".join(["a"] * 8_000) + " = 1\n")
    with pytest.raises(ConfigError, match="unknown key"):
        load_settings(tmp_path)
