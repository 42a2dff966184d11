"""The address of a team's database and the settings for it, for the commands that only make sense with one."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from keyhole.core.config import Settings


def store_url() -> str:
    """Return the address of the database, which a workspace can't set."""
    return team_settings().store.url.get_secret_value()


def team_settings(flags: "Mapping[str, object] | None" = None) -> "Settings":
    """Return the user's settings, with the address of a database; raise ConfigError if there is none."""
    from keyhole.core.config import load_settings
    from keyhole.core.errors import ConfigError
    from keyhole.core.user_file import user_file
    from keyhole.core.workspace.opening import require_team_extra

    # Not those of the current folder, which has no say in this.
    settings = load_settings(user_file().parent, flags)
    if not settings.store.url.get_secret_value():
        raise ConfigError("no database is configured; set store.url in your config.toml, or KEYHOLE_STORE_URL")
    require_team_extra()
    return settings
