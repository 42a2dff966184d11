"""The two themes: brass on dark, and ink on paper."""

from textual.theme import Theme

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
    variables={"border-quiet": "#39414d", "text-muted": "#8e97a5"},
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
    variables={"border-quiet": "#c9c2b4", "text-muted": "#666e79"},
)

THEMES = (DARK, LIGHT)
