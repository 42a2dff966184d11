"""The line with the trail: the definitions that were followed, each with its relation."""

from collections.abc import Sequence

from textual.app import RenderResult
from textual.content import Content

from keyhole.core.view.text import name_text
from keyhole.tui.reference_trail import TrailStep
from keyhole.tui.widgets.bars import Line, clickable

_LONGEST_NAME = 40


class TrailLine(Line):
    """Shows the steps; a click goes back to one. The start is clipped if there is no room."""

    def __init__(self) -> None:
        super().__init__()
        self._steps: Sequence[TrailStep] = ()

    def show(self, steps: Sequence[TrailStep]) -> None:
        """Show a trail; one step needs no line, since the banner names it."""
        self._steps = tuple(steps)
        self.set_class(len(steps) > 1, "-shown")
        self.refresh()

    def render(self) -> RenderResult:
        """Draw the line."""
        line = Content("")
        for number, step in enumerate(self._steps[:-1]):
            name = clickable(Content(_name(step)), f"screen.go_to_step({number})")
            line += name + Content.styled(f" {step.relation} → ", "$text-muted")
        if self._steps:
            line += Content.styled(_name(self._steps[-1]), "bold $primary")
        room = self.size.width - 4
        return line if line.cell_length <= room else Content("…") + line[len(line) - room + 1 :]


def _name(step: TrailStep) -> str:
    name = step.name or step.symbol or f"{step.place.path}:{step.place.line}"
    return name_text(name, _LONGEST_NAME)
