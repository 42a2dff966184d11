"""The command that shows who asked a team's server what: admin audit."""

import click

from keyhole.core.cli.options import json_option
from keyhole.core.cli.output import exit_with_nothing, print_json, print_text
from keyhole.core.cli.store_address import team_settings


@click.command()
@click.option("--token", default="", help="Only calls with the token of this name.")
@click.option("--limit", type=click.IntRange(min=1), default=50, show_default=True, help="Newest calls to show.")
@json_option
def audit(*, token: str, limit: int, as_json: bool) -> None:
    """Show who asked the team's server on this machine what, newest last."""
    settings = team_settings()
    from keyhole.core.journal.local_time import local_time
    from keyhole.core.journal.reader import JournalReader
    from keyhole.core.team.team_workspace import team_folder
    from keyhole.core.untrusted_text import visible
    from keyhole.core.view.asked_text import asked_text

    folder = team_folder(settings.cache_dir, settings.store.url.get_secret_value())
    calls = [call for call in JournalReader(folder).each() if token in ("", call.caller)][-limit:]
    if as_json:
        names = ("started", "caller", "client", "tool", "parameters", "status", "tokens", "ms")
        print_json([{name: getattr(call, name) for name in names} for call in calls])
    else:
        rows = [
            (local_time(call.started), call.caller, call.tool, str(call.status), asked_text(call)) for call in calls
        ]
        print_text("".join(visible("  ".join(row)) + "\n" for row in rows) or "No calls yet.\n")
    if not calls:
        exit_with_nothing()
