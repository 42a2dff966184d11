"""The themes: our dark, light and high-contrast one, and what our style sheets need from any other."""

from textual.color import Color
from textual.theme import Theme

from keyhole.core.view.text_parts import PartKind

# A match of a search, the one that was gone to, and selected text; all are also visible without colours.
MATCH_STYLE = "underline on $primary 30%"
FOUND_STYLE = "bold reverse"
SELECTED_STYLE = "reverse $foreground"
# How to draw the lines of an answer; the words of notes and headings say what they are, too.
PART_STYLES = {
    PartKind.BANNER: "bold $primary",
    PartKind.NOTE: "$warning",
    PartKind.HEADING: "bold $secondary",
    PartKind.DETAIL: "$secondary",
    PartKind.CONTEXT: "$text-muted",
}
# How much of the background is mixed into the text colour.
_MUTED, _QUIET = 0.4, 0.75
# A theme that leaves its colours to the terminal has none to mix.
_TERMINAL_GREY, _TERMINAL_TEXT = "ansi_bright_black", "ansi_default"


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

# Black and white with few pure colours: every text has a contrast of at least 7 to 1, as WCAG asks for at level AAA.
HIGH_CONTRAST = Theme(
    name="keyhole-high-contrast",
    primary="#ffd700",
    secondary="#7fdbff",
    accent="#ffd700",
    success="#5dff8f",
    warning="#ffb347",
    error="#ff9c94",
    foreground="#ffffff",
    background="#000000",
    surface="#000000",
    panel="#1c1c1c",
    dark=True,
    variables=_variables(quiet="#b8b8b8", muted="#d6d6d6", primary="#ffd700", background="#000000"),
)

THEMES = (DARK, LIGHT, HIGH_CONTRAST)


def with_our_variables(variables: dict[str, str], theme: Theme) -> dict[str, str]:
    """Add the variables of our style sheets to those of a theme that lacks them."""
    if theme in THEMES:
        return variables
    background = variables["background"]
    if theme.ansi:
        # Grey text could not be read on the cursor, which such a theme draws in a full colour.
        quiet, muted = _TERMINAL_GREY, _TERMINAL_TEXT
    else:
        text, behind = Color.parse(variables["foreground"]), Color.parse(background)
        quiet, muted = (text.blend(behind, share).hex6 for share in (_QUIET, _MUTED))
    ours = _variables(quiet=quiet, muted=muted, primary=theme.primary, background=background)
    return variables | ours | theme.variables
