"""Settings: flags, then KEYHOLE_* variables, then the workspace's keyhole.toml, then the user's file."""

import json
import os
import re
from collections.abc import Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated

from platformdirs import user_cache_path
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, SecretStr, ValidationError
from pydantic.fields import FieldInfo

from keyhole.core.errors import ConfigError
from keyhole.core.files.read import read_bytes
from keyhole.core.masking import mask_address
from keyhole.core.suggest import close_names, did_you_mean, suggest_name
from keyhole.core.types.choices import TOKEN_VARIABLE, Mode, ToolSet
from keyhole.core.types.source_files import Skip, SkipReason
from keyhole.core.untrusted_toml import parse_toml
from keyhole.core.user_file import EXPLORER_SECTIONS, user_file
from keyhole.core.view.budget.limits import MAX_TOKENS, MIN_TOKENS

WORKSPACE_FILE = "keyhole.toml"
_MAX_FILE_BYTES = 20_000
_MAX_DEPTH = 3
_PREFIX = "KEYHOLE_"
_CLIENT_VARIABLE = re.compile(rf"{_PREFIX}CLIENTS_(\w+)_(MAX_TOKENS|PROFILE)")
ENVIRONMENT = "environment"
STORE_URL = "store.url"
_STORE_SCHEMES = ("postgresql://", "postgres://")
# In the keys of settings that each client may have, this stands for the name of the client.
_ANY_CLIENT = "NAME"
# A workspace is untrusted: it may not choose where Keyhole writes, what it loads, whether calls are recorded, which
# secrets are served, which server gets its text, or what keys do (EXPLORER_SECTIONS).
_USER_ONLY = frozenset(
    [
        "cache_dir",
        "content_store.max_bytes",
        "index.model",
        "journal.enabled",
        "journal.max_bytes",
        "journal.max_days",
        "secrets.mask",
        "secrets.readmit",
        "store.url",
        "share",
    ]
)


def _expanded(path: Path) -> Path:
    """Return a path with the home folder in place of `~`."""
    _check_path_text(str(path))
    try:
        return path.expanduser()
    except RuntimeError as error:
        raise ValueError(str(error)) from error


def _check_path_text(text: str) -> str:
    """Raise ValueError for a text that no system call accepts as a path."""
    if not text or "\0" in text:
        raise ValueError("must not be empty or contain a null character")
    return text


ExpandedPath = Annotated[Path, AfterValidator(_expanded)]
ModelName = Annotated[str, AfterValidator(_check_path_text)]


def _split_list(value: object) -> object:
    """Split the text of a variable at its commas; a settings file has a list."""
    return [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value


PathList = Annotated[tuple[str, ...], BeforeValidator(_split_list)]


def _default_workers() -> int:
    return min(os.cpu_count() or 1, 8)


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class IndexSettings(_Section):
    """Settings of the index."""

    # A file is held in memory as a whole, several times over, by every worker.
    max_file_bytes: int = Field(default=1_000_000, ge=1, le=50_000_000, description="larger files are not indexed")
    workers: int = Field(default_factory=_default_workers, ge=1, le=64, description="processes that parse")
    model: ModelName = Field(
        default="builtin",
        description="Keyhole's own model, the folder of another model2vec model, hub:OWNER/NAME to download one (the "
        "only download Keyhole makes), or none for no vectors",
    )


class ContentStoreSettings(_Section):
    """Settings of the content store."""

    max_bytes: int = Field(
        default=1_000_000_000,
        ge=0,
        le=1_000_000_000_000,
        description="size limit of the analysis that all workspaces share; what was not used for the longest time is "
        "deleted first; 0 turns it off",
    )


class SearchSettings(_Section):
    """Defaults of a search."""

    top_k: int = Field(default=10, ge=1, le=50, description="results per page")
    mode: Mode = Field(default=Mode.AUTO, description="how to interpret a query, if a call does not say")


class JournalSettings(_Section):
    """Settings of the journal of agents' calls."""

    enabled: bool = Field(default=True, description="record the calls of agents")
    max_bytes: int = Field(
        default=50_000_000,
        ge=1_000_000,
        le=10_000_000_000,
        description="size limit; the oldest calls are deleted first",
    )
    max_days: int = Field(default=30, ge=1, le=3_650, description="older calls are deleted")


class ViewSettings(_Section):
    """Settings of answers."""

    max_tokens: int | None = Field(
        default=None, ge=MIN_TOKENS, le=MAX_TOKENS, description="token budget of an answer if a call gives none"
    )


class ClientSettings(_Section):
    """Settings of one MCP client."""

    max_tokens: int | None = Field(
        default=None, ge=MIN_TOKENS, le=MAX_TOKENS, description="token budget of an answer to this client"
    )
    profile: str | None = Field(
        default=None,
        description="client in `keyhole clients` whose limits hold, such as codex-unknown for Codex with a local model",
    )


class ServerSettings(_Section):
    """Settings of the MCP server."""

    tools: ToolSet = Field(default=ToolSet.ALL, description="tools to offer to agents: all, or core for fewer tokens")


class SecretSettings(_Section):
    """Settings of secrets."""

    mask: bool = Field(default=True, description="replace tokens in answers with [secret: kind]")
    readmit: PathList = Field(
        default=(),
        description="secret paths to serve: patterns as in .gitignore, or absolute paths; a variable has commas",
    )


def _check_store_url(url: SecretStr) -> SecretStr:
    if url.get_secret_value() and not url.get_secret_value().startswith(_STORE_SCHEMES):
        raise ValueError(f"must start with {_STORE_SCHEMES[0]}")
    return url


class StoreSettings(_Section):
    """Settings of the place of all indexes."""

    url: Annotated[SecretStr, AfterValidator(_check_store_url)] = Field(
        default=SecretStr(""), description="a PostgreSQL server for all indexes, instead of files (docs/team.md)"
    )


class Settings(_Section):
    """Every setting, with its default."""

    cache_dir: ExpandedPath = Field(
        default_factory=lambda: user_cache_path("keyhole"), description="where indexes are stored"
    )
    share: bool = Field(default=True, description="let clients on stdio, and commands, use one server for all of them")
    index: IndexSettings = IndexSettings()
    content_store: ContentStoreSettings = ContentStoreSettings()
    search: SearchSettings = SearchSettings()
    view: ViewSettings = ViewSettings()
    clients: dict[str, ClientSettings] = {}
    mcp: ServerSettings = ServerSettings()
    journal: JournalSettings = JournalSettings()
    secrets: SecretSettings = SecretSettings()
    store: StoreSettings = StoreSettings()


def load_settings(root: Path, flags: Mapping[str, object] | None = None) -> Settings:
    """Merge all sources; flags are dotted keys such as `index.max_file_bytes`, and None means not set."""
    merged = setting_sources(root, flags)
    tree: dict[str, object] = {}
    for key, (_, value) in merged.items():
        *sections, name = _parts(key)
        place = tree
        for section in sections:
            inside = place.setdefault(section, {})
            if not isinstance(inside, dict):
                source = merged[section][0] if section in merged else "settings"
                raise ConfigError(f"{source}: {section} = {_shown(inside)}: must be a table, [{section}]")
            place = inside
        place[name] = value
    try:
        return Settings.model_validate(tree)
    except ValidationError as error:
        raise _invalid(error, merged) from None


def setting_sources(root: Path, flags: Mapping[str, object] | None = None) -> dict[str, tuple[str, object]]:
    """Return every setting that is not left to its default: the source with the highest priority, and its value."""
    merged: dict[str, tuple[str, object]] = {}
    for source, values in _layers(root, flags or {}):
        for key, value in values.items():
            _check_key(key, source, is_variable=source == ENVIRONMENT)
            if value != {}:
                merged[key] = (source, value)
    return merged


def _invalid(error: ValidationError, merged: Mapping[str, tuple[str, object]]) -> ConfigError:
    """Return an error for the first invalid value: where it was set, and what it must be."""
    problem = error.errors(include_url=False)[0]
    key = ".".join(str(part) for part in problem["loc"])
    source = merged[key][0] if key in merged else "settings"
    name = variable_of(key) if source == ENVIRONMENT else key
    expected = _range_text(key) or problem["msg"].removeprefix("Value error, ")
    if problem["type"] in ("model_type", "dict_type"):
        expected = f"must be a table, [{key}]"
    given = shown_value(key, problem["input"])
    suggestion = did_you_mean(close_names(given.strip('"'), _choices(key)))
    return ConfigError(f"{source}: {name} = {given}: {expected}", suggestion=suggestion)


def _choices(key: str) -> list[str]:
    """Return the values that a setting accepts, if it is one of a few."""
    field = dict(_fields(Settings, "")).get(_generic(key))
    kind = field.annotation if field else None
    return [*kind] if isinstance(kind, type) and issubclass(kind, StrEnum) else []


def _range_text(key: str) -> str:
    """Return which numbers a setting accepts; empty if it is not a number."""
    limits = setting_ranges().get(_generic(key))
    return f"must be a whole number from {limits[0]:,} to {limits[1]:,}" if limits else ""


def setting_ranges() -> dict[str, tuple[int, int]]:
    """Return the lowest and the highest value of every setting that is a number."""
    return {key: limits for key, field in _fields(Settings, "") if (limits := _limits(field))}


def _limits(field: FieldInfo) -> tuple[int, int] | None:
    limits = {name: getattr(limit, name) for limit in field.metadata for name in ("ge", "le") if hasattr(limit, name)}
    return (limits["ge"], limits["le"]) if len(limits) == 2 else None


def setting_keys() -> dict[str, str]:
    """Return every dotted key with its description."""
    return {key: field.description or "" for key, field in _fields(Settings, "")}


def is_user_only(key: str) -> bool:
    """Return whether a workspace can't set a key."""
    return key in _USER_ONLY


def setting_defaults() -> dict[str, object]:
    """Return the default of every setting."""
    return {
        key: field.get_default(call_default_factory=True, validated_data={}) for key, field in _fields(Settings, "")
    }


def _fields(model: type[BaseModel], prefix: str) -> Iterator[tuple[str, FieldInfo]]:
    for name, field in model.model_fields.items():
        kind = field.annotation
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            yield from _fields(kind, f"{prefix}{name}.")
        elif kind == dict[str, ClientSettings]:
            yield from _fields(ClientSettings, f"{prefix}{name}.{_ANY_CLIENT}.")
        else:
            yield f"{prefix}{name}", field


def _layers(root: Path, flags: Mapping[str, object]) -> Iterator[tuple[str, dict[str, object]]]:
    """Yield the sources, lowest priority first."""
    path = user_file()
    yield str(path), {key: value for key, value in _read_user_file(path).items() if not _is_of_explorer(key)}
    workspace = _read_workspace_file(root)
    if forbidden := [key for key in workspace if key in _USER_ONLY or _is_of_explorer(key)]:
        raise ConfigError(f"{WORKSPACE_FILE}: {min(forbidden)} cannot be set by a workspace; set it in {path}")
    yield WORKSPACE_FILE, workspace
    yield ENVIRONMENT, _read_environment()
    yield "command line", {key: value for key, value in flags.items() if value is not None}


def _is_of_explorer(key: str) -> bool:
    return key.partition(".")[0] in EXPLORER_SECTIONS


def _read_workspace_file(root: Path) -> dict[str, object]:
    if not os.path.lexists(root / WORKSPACE_FILE):
        return {}
    content = read_bytes(root, WORKSPACE_FILE, max_bytes=_MAX_FILE_BYTES)
    if isinstance(content, Skip):
        # The detail of the skip would name the size limit of indexed files, which is not the one used here.
        is_too_large = content.reason == SkipReason.TOO_LARGE
        problem = f"larger than {_MAX_FILE_BYTES:,} bytes" if is_too_large else content.detail
        raise ConfigError(f"cannot read {WORKSPACE_FILE}: {problem}")
    return _parse_toml(content[0], WORKSPACE_FILE)


def _read_user_file(path: Path) -> dict[str, object]:
    try:
        return _parse_toml(path.read_bytes(), str(path))
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {error.strerror}") from error


def _parse_toml(content: bytes, source: str) -> dict[str, object]:
    try:
        return _flatten(parse_toml(content))
    except ValueError as error:
        raise ConfigError(f"{source} is not valid TOML: {error}") from error


def _read_environment() -> dict[str, object]:
    by_variable = {variable_of(key): key for key in setting_keys()}
    return {
        _client_key(name) or by_variable.get(name, name): value
        for name, value in os.environ.items()
        if name.startswith(_PREFIX) and name != TOKEN_VARIABLE and value  # by convention, an empty one is not set
    }


def _client_key(variable: str) -> str:
    """Return the key for a variable such as KEYHOLE_CLIENTS_CLAUDE_CODE_MAX_TOKENS; empty if it is not a client's."""
    found = _CLIENT_VARIABLE.fullmatch(variable)
    return f"clients.{found[1].lower().replace('_', '-')}.{found[2].lower()}" if found else ""


def _parts(key: str) -> list[str]:
    """Split a dotted key; the name of a client may contain dots."""
    section, _, rest = key.partition(".")
    client, _, name = rest.rpartition(".")
    return [section, client, name] if section == "clients" and client else key.split(".")


def _generic(key: str) -> str:
    """Return a key as the list of keys has it, with `NAME` for the name of a client."""
    section, *inside = _parts(key)
    return ".".join([section, _ANY_CLIENT, *inside[1:]]) if section == "clients" and inside else key


def _flatten(table: Mapping[str, object], prefix: str = "") -> dict[str, object]:
    flat: dict[str, object] = {}
    for name, value in table.items():
        if isinstance(value, dict) and value and prefix.count(".") < _MAX_DEPTH:
            flat |= _flatten(value, f"{prefix}{name}.")
        else:
            flat[f"{prefix}{name}"] = value
    return flat


def _check_key(key: str, source: str, *, is_variable: bool) -> None:
    known, generic = setting_keys(), _generic(key)
    if generic in known or any(name.startswith(f"{generic}.") for name in known):
        return
    sections = dict.fromkeys(name.partition(".")[0] for name in known if "." in name)
    names = [variable_of(name) for name in known] if is_variable else [*known, *sections, *EXPLORER_SECTIONS]
    raise ConfigError(f"{source}: unknown key {key}", suggestion=suggest_name(key, names))


def shown_value(key: str, value: object) -> str:
    """Write the value of a setting as people write it, without a password."""
    return _shown(mask_address(value) if key == STORE_URL and isinstance(value, str) else value)


def _shown(value: object) -> str:
    """Write a value as people write it in a settings file, not as Python does."""
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except ValueError:
        # Python does not write numbers with thousands of digits.
        return "a number that is too large"


def variable_of(key: str) -> str:
    """Return the environment variable that sets a key."""
    return _PREFIX + key.upper().replace(".", "_").replace("-", "_")
