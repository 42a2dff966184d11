"""Who changed a line last, when, and in which commit."""

import time
from dataclasses import dataclass

from keyhole.core.git.shadow_repository import ShadowRepository
from keyhole.core.masking import mask_text

_SECONDS = 20.0
_LONGEST_NAME = 40
# Seconds, and the unit they make up; the largest first.
_UNITS = (
    (365 * 86_400, "year"),
    (30 * 86_400, "month"),
    (7 * 86_400, "week"),
    (86_400, "day"),
    (3_600, "hour"),
    (60, "minute"),
)


@dataclass(frozen=True, slots=True)
class Blame:
    """The last change of a line; without a commit, the line is not committed yet."""

    commit: str = ""
    author: str = ""
    # Seconds since 1970.
    time: int = 0
    subject: str = ""


def blame_line(repository: ShadowRepository, path: str, line: int) -> Blame:
    """Ask git who changed a line of a file last; raise GitError if the file is not in the last commit."""
    # Without a filter for text, git shows the line as it is committed.
    options = ("--porcelain", "--no-textconv", f"-L{line},{line}", "--", f"{repository.prefix}{path}")
    return parse_blame(repository.run("blame", *options, seconds=_SECONDS))


def parse_blame(printed: bytes) -> Blame:
    """Read the output of `git blame --porcelain` about one line."""
    lines = printed.decode(errors="replace").split("\n")
    commit = lines[0].split(" ")[0]
    if not commit.strip("0"):
        return Blame()
    # The source itself comes last, after a tab.
    facts = dict(line.partition(" ")[::2] for line in lines[1:] if line and not line.startswith("\t"))
    when = facts.get("author-time", "")
    # A commit can contain a secret like any other text.
    author, subject = mask_text(facts.get("author", "")), mask_text(facts.get("summary", ""))
    return Blame(commit, author[:_LONGEST_NAME], int(when) if when.isdecimal() else 0, subject)


def age_text(seconds: float) -> str:
    """Return how long ago something was, in its largest unit: `3 months ago`."""
    for size, unit in _UNITS:
        if (count := int(seconds // size)) > 0:
            return f"{count:,} {unit if count == 1 else f'{unit}s'} ago"
    return "just now"


def blame_text(blame: Blame, now: float | None = None) -> str:
    """Return the last change of a line: `Ada, 3 months ago: Fix the retry`."""
    if not blame.commit:
        return "Not committed yet"
    age = age_text((time.time() if now is None else now) - blame.time)
    return f"{blame.author}, {age}: {blame.subject}"
