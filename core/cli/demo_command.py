"""The command that shows Keyhole at work: demo."""

import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING

import click

from keyhole.core.cli.open_explorer import is_at_terminal, start_server
from keyhole.core.cli.output import print_text, say, update_index

if TYPE_CHECKING:
    from keyhole.core.types.demo import DemoStep
    from keyhole.mcp_server.demo_agent import DemoAgent

# A package of Keyhole itself is the sample: it is installed anyway, and large enough for every limit.
_SAMPLE_NAME, _SAMPLE_PART = "keyhole-sample", "search"
_SECONDS = 3.0


@click.command()
@click.argument("path", required=False, type=click.Path(path_type=Path))
@click.option("--fast", is_flag=True, help="Don't pause between calls.")
@click.option("--text", "as_text", is_flag=True, help="Print the calls and answers instead of opening the explorer.")
def demo(path: Path | None, *, fast: bool, as_text: bool) -> None:
    """Watch a scripted agent at work: real MCP calls and answers, in the explorer's Traffic.

    It works on PATH, or on a copy of a part of Keyhole's own source. Its index and journal are in a temporary folder,
    which is deleted at the end. From the first key on, the screen is yours, and q quits. Without a terminal, it prints
    the calls.
    """
    with tempfile.TemporaryDirectory(prefix="keyhole-demo-") as scratch, demo_folder(path, Path(scratch)) as root:
        flags = {"cache_dir": Path(scratch) / "cache"}
        if as_text or not is_at_terminal():
            _tell(root, flags)
        else:
            raise click.exceptions.Exit(_show(root, flags, 0.0 if fast else _SECONDS))


@contextmanager
def demo_folder(path: Path | None, scratch: Path) -> Iterator[Path]:
    """Provide the folder to work on; the sample is copied, so that nothing else of the installation is seen."""
    if path is not None:
        yield path
        return
    root = scratch / _SAMPLE_NAME
    with as_file(files("keyhole.core").joinpath(_SAMPLE_PART)) as source:
        # At the same place as in the package, so that imports lead somewhere.
        shutil.copytree(source, root / "keyhole/core" / _SAMPLE_PART, ignore=shutil.ignore_patterns("__pycache__"))
    yield root


def _show(root: Path, flags: Mapping[str, object], pause: float) -> int:
    """Open the explorer with the agent in it, and return its exit code."""
    from keyhole.mcp_server.demo_agent import DemoAgent, demo_steps
    from keyhole.mcp_server.local import LocalTools
    from keyhole.tui.run_explorer import run_explorer
    from keyhole.tui.serving import Demo, ServerSide

    server_side = ServerSide(start_server, LocalTools(), demo=Demo(demo_steps, DemoAgent, pause))
    return run_explorer([root], server_side, flags=flags, is_fresh=True)


def _tell(root: Path, flags: Mapping[str, object]) -> None:
    """Print each call and the first line of its answer."""
    import asyncio

    from keyhole.core.service import Service
    from keyhole.mcp_server.demo_agent import DemoAgent, demo_steps

    service = Service.open(root, flags=flags)
    update_index(service)
    samples = service.sample_queries()
    if not samples.path:
        raise click.ClickException(f"{root} defines nothing that an agent could ask for; give another folder")
    agent = DemoAgent(service)
    try:
        asyncio.run(_tell_steps(agent, demo_steps(samples)))
    finally:
        agent.close()
        service.close()
    say("these were real calls to a real server; keyhole demo in a terminal shows them live")


async def _tell_steps(agent: "DemoAgent", steps: "list[DemoStep]") -> None:
    from dataclasses import replace

    from keyhole.core.clients import profiles
    from keyhole.core.delivery import deliver
    from keyhole.core.view.text import json_line

    for number, step in enumerate(steps, 1):
        print_text(f"{number}. {step.client}: {step.tool} {json_line(step.arguments)}\n   {step.says}\n")
        answer = await agent.call(step)
        print_text(_first_line(answer))
        if step.replay:
            again = await agent.call(replace(step, arguments=step.replay))
            print_text(f"   replay with {json_line(step.replay)}:\n{_first_line(again)}")
        if step.lens:
            profile = profiles()[step.lens]
            note = deliver(answer, profile).note or f"{profile.title} delivers the full answer"
            print_text(f"   lens: {note}\n")
        print_text("\n")


def _first_line(answer: str) -> str:
    from keyhole.core.view.budget.sizes import measure

    return f"   → {answer.partition(chr(10))[0]} [{measure(answer).tokens:,} tokens]\n"


COMMANDS = (demo,)
