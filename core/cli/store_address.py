"""The address of a team's database, for the commands that only make sense with one."""


def store_url() -> str:
    """Return the address of the database, which a workspace can't set."""
    from keyhole.core.config import load_settings
    from keyhole.core.errors import ConfigError
    from keyhole.core.user_file import user_file
    from keyhole.core.workspace.opening import require_team_extra

    # Not those of the current folder, which has no say in this.
    url = load_settings(user_file().parent).store.url.get_secret_value()
    if not url:
        raise ConfigError("no database is configured; set store.url in your config.toml, or KEYHOLE_STORE_URL")
    require_team_extra()
    return url
