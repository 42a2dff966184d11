"""The command that prints the completion of a shell: completion."""

import click
from click.shell_completion import CompletionItem, get_completion_class

from keyhole.core.cli.open_explorer import explore_command
from keyhole.core.cli.options import SuggestingChoice

PROGRAM = "keyhole"
# The shell sets it when it asks for words; click reads it and answers.
COMPLETION_VARIABLE = "_KEYHOLE_COMPLETE"


class CompletedGroup(click.Group):
    """The group of all commands, completed together with the folders and options of the explorer."""

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return what can follow `keyhole`."""
        explore = explore_command()
        if incomplete.startswith("-"):
            return super().shell_complete(ctx, incomplete) + explore.shell_complete(ctx, incomplete)
        # The folder comes first, because the script for bash forgets what came before one; and it is not empty, because
        # the script for zsh would take the next word for it.
        return [CompletionItem(incomplete or "./", type="dir"), *super().shell_complete(ctx, incomplete)]


@click.command()
@click.argument("shell", type=SuggestingChoice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the completion script of a shell. It asks keyhole itself for commands, options and values."""
    script = get_completion_class(shell)
    if script is None:
        raise click.UsageError(f"this version of click can't complete in {shell}")
    # Which commands there are is asked when a key is pressed, so this one can stand for all.
    click.echo(script(completion, {}, PROGRAM, COMPLETION_VARIABLE).source(), nl=False)


COMMANDS = (completion,)
