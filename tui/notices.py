"""What the Explore screen says when it has no results to show."""

from keyhole.core.notes import NoteKind
from keyhole.core.types import SearchResult, Status
from keyhole.core.view.text import count_of
from keyhole.tui.index_state import IndexState, Phase

_MOST_LANGUAGES = 8

HINTS = """Type a name, a few words, or /a regular expression/.

Filters go into the same line:
  lang:py        files in a language
  path:src       files below a folder, or path:*.md
  kind:class     chunks that define a class
  mode:regex     auto, hybrid, semantic, keyword, regex, symbol
  tests:no       without tests
  limit:20       results on a page
"""


def waiting_lines(state: IndexState) -> list[str]:
    """Say what to do, or what to wait for, before there is anything to show."""
    if state.phase == Phase.FAILED:
        return ["[bold]✗ The index cannot be used[/]", "", state.text, "", "r tries again"]
    if state.is_first_run:
        return [
            "[bold]◌ Reading this folder for the first time[/]",
            "",
            "Search at once: results come from what",
            "has been read, and grow as it goes on.",
        ]
    if state.phase == Phase.CURRENT and not state.files:
        return [
            "[bold]○ Nothing to index here[/]",
            "",
            "There is no file that is not passed over.",
            "2 Files shows what is passed over, and why.",
        ]
    return ["[bold]Search, as your agent would[/]", "", "Results, their cost and what is cut", "appear as you type."]


def nothing_found_lines(result: SearchResult) -> list[str]:
    """Say that nothing was found, and what to try."""
    # What mode was chosen explains results, and there are none.
    notes = [f"· {note.text}" for note in result.notes if note.kind != NoteKind.MODE_CHOSEN]
    tips = [
        "· a part of a word finds nothing: mode:symbol and /regex/ do",
        "· fewer words, or fewer filters, find more",
    ]
    return ["[bold]○ Nothing found[/]", "", *notes, *tips]


def overview(status: Status | None) -> str:
    """Sum up what is indexed, below how to search it."""
    if status is None or not status.files:
        return HINTS
    from keyhole.core.syntax.languages import BY_ID

    facts = " │ ".join(
        [count_of(status.files, "file"), count_of(status.chunks, "chunk"), count_of(status.symbols, "symbol")]
    )
    lines = [HINTS, f"This workspace: {facts}", ""]
    lines += [
        f"  {BY_ID[count.language].label:<14}{count.files:>8,} files{count.chunks:>9,} chunks"
        for count in status.languages[:_MOST_LANGUAGES]
    ]
    if len(status.languages) > _MOST_LANGUAGES:
        lines.append(f"  and {count_of(len(status.languages) - _MOST_LANGUAGES, 'other language')}")
    if status.skipped:
        passed = ", ".join(f"{reason} {count:,}" for reason, count in sorted(status.skipped.items()))
        lines += ["", f"Passed over: {passed}"]
    return "\n".join(lines) + "\n"
