"""Shrink SVG snapshots to a third: the same picture, without attributes repeated for every piece of a line."""

import re

_LEFT_OUT = [
    re.compile(pattern)
    for pattern in (
        # Clip paths are not needed, since no character is taller than its line; fonts are the viewer's own.
        r' clip-path="url\(#terminal-line-\d+\)"',
        r'<clipPath id="terminal-line-\d+">\s*<rect[^>]*/>\s*</clipPath>\s*',
        r"@font-face\s*{[^}]*}\s*",
        r' shape-rendering="crispEdges"',
    )
]
_RECT = re.compile(r'<rect fill="([^"]+)" x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)"/>')


def compact(svg: str) -> str:
    """Remove what is invisible, and merge neighbours of the same colour."""
    for pattern in _LEFT_OUT:
        svg = pattern.sub("", svg)
    return re.sub(rf"(?:{_RECT.pattern})+", lambda run: _joined(run[0]), svg.replace("&#160;", "\u00a0"))


def _joined(run: str) -> str:
    rects: list[tuple[str, float, str, float, str]] = []
    for fill, left, top, width, height in _RECT.findall(run):
        begins = float(left)
        if rects and rects[-1][0] == fill and rects[-1][2] == top and abs(rects[-1][1] + rects[-1][3] - begins) < 0.01:
            _, first, _, before, _ = rects.pop()
            rects.append((fill, first, top, before + float(width), height))
        else:
            rects.append((fill, begins, top, float(width), height))
    return "".join(
        f'<rect fill="{fill}" x="{left:g}" y="{top}" width="{round(width, 2):g}" height="{height}"/>'
        for fill, left, top, width, height in rects
    )
