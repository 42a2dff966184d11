"""What it costs to read or to map the files of a workspace, in tokens."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TokenCost:
    """The tokens of all lines of a file as `read_file` numbers them, and of its map; those of a folder are sums."""

    read: int
    map: int

    def __add__(self, other: "TokenCost") -> "TokenCost":
        return TokenCost(self.read + other.read, self.map + other.map)


def with_folders(files: Mapping[str, TokenCost]) -> dict[str, TokenCost]:
    """Return the costs of files and of all folders around them; the workspace has an empty path."""
    costs, nothing = dict(files), TokenCost(0, 0)
    for path, cost in files.items():
        folder = path
        while folder:
            folder = folder.rpartition("/")[0]
            costs[folder] = costs.get(folder, nothing) + cost
    return costs
