"""The two themes: dark and light."""

from textual.theme import Theme


def _variables(*, quiet: str, muted: str, primary: str, background: str) -> dict[str, str]:
    """Return the variables of the style sheets: frames, muted text, and scrollbars that look like frames."""
    return {
        "border-quiet": quiet,
        "text-muted": muted,
        "scrollbar": quiet,
        "scrollbar-hover": primary,
        "scrollbar-active": primary,
        "scrollbar-background": background,
        "scrollbar-background-hover": background,
        "scrollbar-background-active": background,
    }


DARK = Theme(
    name="keyhole-dark",
    primary="#e3b663",
    secondary="#79b8ff",
    accent="#e3b663",
    success="#85cf95",
    warning="#f2ab5f",
    error="#ff7b72",
    foreground="#d8dce3",
    background="#12151a",
    surface="#171b21",
    panel="#20252d",
    dark=True,
    variables=_variables(quiet="#39414d", muted="#8e97a5", primary="#e3b663", background="#12151a"),
)

LIGHT = Theme(
    name="keyhole-light",
    primary="#8a5800",
    secondary="#0a5cad",
    accent="#8a5800",
    success="#1a7336",
    warning="#94500a",
    error="#bd2c2c",
    foreground="#23282f",
    background="#faf8f3",
    surface="#ffffff",
    panel="#eeeae1",
    dark=False,
    variables=_variables(quiet="#c9c2b4", muted="#666e79", primary="#8a5800", background="#faf8f3"),
)

THEMES = (DARK, LIGHT)
