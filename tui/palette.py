"""The commands of the palette: one for each key, the most used first, quitting last."""

from collections.abc import Iterator
from functools import partial

from textual.binding import Binding
from textual.command import DiscoveryHit, Hit, Hits, Provider

from keyhole.tui.command_order import QUITTING, action_name
from keyhole.tui.screens.help import commands

# Below every score of the matcher.
_LOWEST_SCORE = 1e-9


class PaletteCommands(Provider):
    """Offers every command of the screen below the palette.

    Textual's own provider sorts by title, which would preselect whatever comes first in the alphabet.
    """

    async def discover(self) -> Hits:
        """Yield all commands in their order."""
        for binding, help_text in self._commands():
            yield DiscoveryHit(binding.tooltip, partial(self.app.simulate_key, binding.key), help=help_text)

    async def search(self, query: str) -> Hits:
        """Yield the commands that match a query, the best match first; quitting comes last, however well it matches."""
        matcher = self.matcher(query)
        for binding, help_text in self._commands():
            score = matcher.match(binding.tooltip)
            if score > 0:
                yield Hit(
                    _LOWEST_SCORE if action_name(binding) in QUITTING else score,
                    matcher.highlight(binding.tooltip),
                    partial(self.app.simulate_key, binding.key),
                    help=help_text,
                )

    def _commands(self) -> Iterator[tuple[Binding, str]]:
        for key, binding in commands(self.screen):
            yield binding, f"Press {key}"
