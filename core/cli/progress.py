"""A progress bar for the command line: files, chunks, rate and the current path, on stderr."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar
from rich.text import Text

from keyhole.core.notes import IndexMessage
from keyhole.core.types.inventory import Progress
from keyhole.core.untrusted_text import visible
from keyhole.core.view.text import shorten

_PATH_WIDTH = 40


class _Rate(ProgressColumn):
    """Files per second."""

    def render(self, task: Task) -> Text:
        return Text(f"{task.speed:,.0f}/s" if task.speed else "")


class ShownProgress:
    """Updates one bar. It appears with the first file, so that a run with nothing to do shows no bar."""

    def __init__(self, console: Console, bar: Bar) -> None:
        self._console = console
        self._bar = bar
        self._task = bar.add_task("indexing", total=None, visible=False, chunks=0, path="")

    def update(self, progress: Progress) -> None:
        """Show the progress of the run."""
        path = progress.path if len(progress.path) <= _PATH_WIDTH else "…" + progress.path[1 - _PATH_WIDTH :]
        self._bar.update(
            self._task,
            completed=progress.done,
            total=progress.total,
            visible=progress.total > 0,
            chunks=f"{progress.chunks:,}",
            path=escape(path),
        )

    def say(self, message: IndexMessage) -> None:
        """Print a message above the bar."""
        self._console.print(f"keyhole: {message}", markup=False, highlight=False, soft_wrap=True)


@contextmanager
def show_progress() -> Iterator[ShownProgress]:
    """Show a bar while the block runs, if stderr is a terminal."""
    console = Console(stderr=True)
    bar = Bar(
        BarColumn(bar_width=20),
        MofNCompleteColumn(),
        TextColumn("files  {task.fields[chunks]} chunks"),
        _Rate(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[path]}"),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
    with bar:
        yield ShownProgress(console, bar)


@contextmanager
def show_steps(noun: str) -> Iterator[Callable[[int, int, str], None]]:
    """Show a bar of other steps than files: how many of all are done, and the name of the current one."""
    console = Console(stderr=True)
    bar = Bar(
        BarColumn(bar_width=20),
        MofNCompleteColumn(),
        TextColumn(f"{noun}  {{task.fields[step]}}"),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
    with bar:
        task = bar.add_task(noun, total=None, step="")

        def update(done: int, total: int, step: str) -> None:
            bar.update(task, completed=done, total=total, step=escape(shorten(visible(step), _PATH_WIDTH)))

        yield update
