"""The screens, each created when it is first opened: their imports take time."""

from collections.abc import Callable

from textual.screen import Screen


def explore_screen() -> Screen[None]:
    """Create the Explore screen."""
    from keyhole.tui.screens.explore import ExploreScreen

    return ExploreScreen()


def files_screen() -> Screen[None]:
    """Create the Files screen."""
    from keyhole.tui.screens.files import FilesScreen

    return FilesScreen()


def traffic_screen() -> Screen[None]:
    """Create the Traffic screen."""
    from keyhole.tui.screens.traffic import TrafficScreen

    return TrafficScreen()


def stats_screen() -> Screen[None]:
    """Create the Stats screen."""
    from keyhole.tui.screens.stats_screen import StatsScreen

    return StatsScreen()


MODES: dict[str, str | Callable[[], Screen[None]]] = {
    "explore": explore_screen,
    "files": files_screen,
    "traffic": traffic_screen,
    "stats": stats_screen,
}
