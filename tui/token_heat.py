"""What files and folders cost, drawn beside their names in the tree: figures in a column, and bars of their shares."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from keyhole.core.types.costs import TokenCost

_EIGHTHS = " ▏▎▍▌▋▊▉█"
BAR_WIDTH = 4


class Heat(StrEnum):
    """Which costs are shown; they come in this order."""

    NONE = ""
    READ = "read"
    MAP = "map"

    @property
    def next(self) -> "Heat":
        """The one that comes after this one."""
        kinds = list(Heat)
        return kinds[(kinds.index(self) + 1) % len(kinds)]

    def of(self, cost: TokenCost) -> int:
        """Return the tokens that are shown of a cost."""
        return cost.map if self == Heat.MAP else cost.read


@dataclass(frozen=True, slots=True)
class HeatColumn:
    """The costs to show, by path; a folder has the sum of its files."""

    heat: Heat
    costs: Mapping[str, TokenCost]

    @property
    def figure_width(self) -> int:
        """The width of the largest figure, which is that of the workspace."""
        return len(f"{self._tokens(''):,}")

    @property
    def width(self) -> int:
        """The width of the column."""
        return 1 + self.figure_width + 1 + BAR_WIDTH

    def cell(self, path: str) -> str:
        """Return the cost of a file or folder, and its share of the folder around it as a bar."""
        if path not in self.costs:
            return " " * self.width
        tokens, around = self._tokens(path), self._tokens(path.rpartition("/")[0])
        return f" {tokens:>{self.figure_width},} {bar(tokens, around)}"

    def _tokens(self, path: str) -> int:
        cost = self.costs.get(path)
        return self.heat.of(cost) if cost else 0


def bar(part: int, whole: int) -> str:
    """Return a bar for the share of a part; what costs anything has at least an eighth of a cell."""
    eighths = -(-part * BAR_WIDTH * 8 // whole) if whole else 0
    full, rest = divmod(min(eighths, BAR_WIDTH * 8), 8)
    return f"{_EIGHTHS[8] * full}{_EIGHTHS[rest] if rest else ''}".ljust(BAR_WIDTH)
