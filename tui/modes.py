"""The screens, each made when it is first asked for: what they import takes time."""

from collections.abc import Callable

from textual.screen import Screen


def explore_screen() -> Screen[None]:
    """Make the screen one starts on."""
    from keyhole.tui.screens.explore import ExploreScreen

    return ExploreScreen()


def files_screen() -> Screen[None]:
    """Make the screen of files, when it is first asked for."""
    from keyhole.tui.screens.files import FilesScreen

    return FilesScreen()


def traffic_screen() -> Screen[None]:
    """Make the screen of calls, when it is first asked for."""
    from keyhole.tui.screens.traffic import TrafficScreen

    return TrafficScreen()


def stats_screen() -> Screen[None]:
    """Make the screen of charts, when it is first asked for."""
    from keyhole.tui.screens.stats_screen import StatsScreen

    return StatsScreen()


MODES: dict[str, str | Callable[[], Screen[None]]] = {
    "explore": explore_screen,
    "files": files_screen,
    "traffic": traffic_screen,
    "stats": stats_screen,
}
