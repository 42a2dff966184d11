"""The texts of the Explore screen when there are no results to show."""

from typing import TYPE_CHECKING

from textual.content import Content

from keyhole.core.notes import NoteKind
from keyhole.core.view.text import count_of
from keyhole.tui.index_state import IndexState, Phase
from keyhole.tui.key_names import marked_up_key

if TYPE_CHECKING:
    from keyhole.core.types.index import Status
    from keyhole.core.types.missing import NothingFound
    from keyhole.core.types.search_results import SearchResult

_MOST_LANGUAGES = 8
_CHECK_FILES = f"Press {marked_up_key('back')}, then {marked_up_key('refresh')}"
_TRY_AGAIN = f"{_CHECK_FILES} to try again."

HINTS = """Type a name, a few words, "exact text" or /a regular expression/.

Add filters to the same line:
  lang:py        files in a language
  path:src       files in a folder, or path:*.md
  kind:class     chunks that define a class
  role:docs      files with a role, or role:-test to leave one out
  mode:regex     auto, hybrid, semantic, keyword, regex, symbol
  tests:no       exclude test files
  changed:yes    files changed since the last commit
  limit:20       results per page
"""


def waiting_lines(state: IndexState) -> list[str]:
    """Return the lines shown before the first search: what to do, or what to wait for."""
    if state.phase == Phase.FAILED and state.files:
        return [
            "[bold]✗ The index can't be updated[/]",
            "",
            state.text,
            "",
            "You can still search what is indexed.",
            _TRY_AGAIN,
        ]
    if state.phase == Phase.FAILED:
        return ["[bold]✗ The index can't be used[/]", "", state.text, "", _TRY_AGAIN]
    if state.is_first_run:
        return [
            "[bold]◌ Indexing this folder for the first time[/]",
            "",
            "You can search now: more results appear",
            "as more files are indexed.",
            *_sample_lines(state),
        ]
    if state.phase == Phase.CURRENT and not state.files:
        return [
            "[bold]○ Nothing to index here[/]",
            "",
            "Every file here is skipped.",
            f"Press {marked_up_key('back')}, then {marked_up_key('files')} to see why.",
        ]
    return [
        "[bold]Search as your agent does[/]",
        "",
        "Results, their cost and what is left out",
        "appear as you type.",
        *_sample_lines(state),
    ]


def _sample_lines(state: IndexState) -> list[str]:
    """Return what to try here: a name, a question and a pattern of this workspace."""
    if state.samples is None:
        return []
    rows = {"a name": state.samples.name, "a question": state.samples.words, "a pattern": state.samples.pattern}
    lines = [f"  {label:<12}{Content(query).markup}" for label, query in rows.items() if query]
    return ["", "Try here:", *lines] if lines else []


def nothing_found_lines(result: "SearchResult") -> list[str]:
    """Return the lines shown when nothing was found, with what to try."""
    # The note on the chosen mode explains results, and there are none.
    notes = [f"· {note.text}" for note in result.notes if note.kind != NoteKind.MODE_CHOSEN]
    notes += nothing_lines(result.nothing)
    if result.unshown.count:
        text = f"· {count_of(result.unshown.count, 'result')} not shown: {result.unshown.why}"
        return ["[bold]○ Nothing to show right now[/]", "", text, *notes]
    if result.index.incomplete:
        step = [f"· {_CHECK_FILES} to continue."] if result.index.is_interrupted else []
        return ["[bold]◌ Nothing found yet[/]", "", f"· {result.index.incomplete}", *step, *notes]
    return ["[bold]○ Nothing found[/]", "", *notes]


def nothing_lines(nothing: "NothingFound | None") -> list[str]:
    """Return what was looked for and what exists instead, as lines with markup."""
    if nothing is None:
        return []
    from keyhole.core.view.lists.nothing_text import nothing_notes, nothing_sentence
    from keyhole.core.view.writing import note_texts

    texts = [nothing_sentence(nothing), *note_texts(*nothing_notes(nothing))]
    return [f"· {Content(text).markup}" for text in texts]


def overview(status: "Status | None") -> str:
    """Return how to search, followed by a summary of what is indexed."""
    if status is None or not status.files:
        return HINTS
    from keyhole.core.syntax.languages import BY_ID

    facts = " │ ".join(
        [count_of(status.files, "file"), count_of(status.chunks, "chunk"), count_of(status.symbols, "symbol")]
    )
    lines = [HINTS, f"This workspace: {facts}", ""]
    lines += [
        f"  {BY_ID[count.language].label:<14}{count_of(count.files, 'file'):>14}{count_of(count.chunks, 'chunk'):>16}"
        for count in status.languages[:_MOST_LANGUAGES]
    ]
    if len(status.languages) > _MOST_LANGUAGES:
        lines.append(f"  {count_of(len(status.languages) - _MOST_LANGUAGES, 'more language')}")
    if status.skipped:
        skipped = ", ".join(f"{count:,} {reason}" for reason, count in sorted(status.skipped.items()))
        lines += ["", f"Skipped: {skipped}"]
    return "\n".join(lines) + "\n"
