"""keyhole wrap with real servers from npm and PyPI, and real clients: nothing may change, and it must cost little.

    .venv/bin/python bench/wrap/wrap_test.py [--record] [--only PART]...   # make wrap-test

The servers and the Inspector are installed in fixed versions into bench/.data the first time. `frames` makes 10,000
exchanges with eight servers, with a tap on each side of the wrap, and compares all bytes. `clients` does the same with
the clients of fastmcp, the SDK and the Inspector, and `budget` has them read long answers page by page. `http` uses a
server with an address. `figures` measures. `fixture` writes the first exchanges of each server to tests/fixtures/wrap,
for `make test`.
"""

import argparse
import asyncio
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from budget_clients import read_with_every_client
from same_frames import KEYHOLE, Place, with_fastmcp, with_inspector, with_raw_client, with_sdk
from wrap_figures import latencies, memory, start_times
from wrapped_servers import BIN, SERVERS, install_servers, make_workspace

sys.path.append(str(Path(__file__).parent.parent))
from record import refuse_changes, save_record

_EXCHANGES = 10_000
_OF_CLIENTS = ("everything", "filesystem", "git", "fastmcp")
_FIXTURE = Path(__file__).parents[2] / "tests" / "fixtures" / "wrap" / "exchanges.zip"
_IN_FIXTURE = 14
# From the issue: what a wrap may add.
_LIMITS = {"start_added_ms": 150.0, "p50_added_ms": 3.0, "p95_added_ms": 10.0}
_MOST_GROWTH_MB = 5.0


def main() -> None:
    """Run the parts; exit with 1 if something changed, or costs too much."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--record", action="store_true", help="store the figures in bench/records")
    parser.add_argument("--only", choices=_RUN, action="append", help="run only this part; may be repeated")
    given = parser.parse_args()
    if given.record:
        refuse_changes()
    install_servers()
    wanted = given.only or [part for part in _RUN if part != "fixture"]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        figures: dict[str, object] = {}
        problems: list[str] = []
        for part in wanted:
            _RUN[part](folder / part, figures, problems)
    if given.record:
        # Only figures need a machine that does nothing else.
        name = "wrap-figures" if wanted == ["figures"] else "wrap"
        print(f"recorded in {save_record(name, figures | {'problems': problems})}")
    if problems:
        raise SystemExit("\n".join(problems))


def _place(folder: Path) -> Place:
    make_workspace(folder / "work")
    (folder / "logs").mkdir()
    return Place(folder / "work", folder / "logs", folder / "cache")


def _frames(folder: Path, figures: dict[str, object], problems: list[str]) -> None:
    each = -(-_EXCHANGES // len(SERVERS))
    found = {}
    for name, server in SERVERS.items():
        done = with_raw_client(server, _place(folder / name), each)
        found[name] = asdict(done)
        size = done.bytes_in + done.bytes_out
        print(f"{name:<20} {done.exchanges:>6,} exchanges  {size:>12,} bytes  same: {done.is_same}")
        if not done.is_same:
            problems.append(f"{name}: the wrap changed something")
    figures["frames"] = found
    figures["exchanges"] = each * len(SERVERS)


def _clients(folder: Path, figures: dict[str, object], problems: list[str]) -> None:
    found: dict[str, bool] = {}
    for client, use in {"fastmcp": with_fastmcp, "sdk": with_sdk, "inspector": with_inspector}.items():
        for name in _OF_CLIENTS:
            done = use(name, _place(folder / client / name))
            found[f"{client} {name}"] = done.is_same
            print(f"{client:<10} {name:<20} {done.bytes_in + done.bytes_out:>10,} bytes  same: {done.is_same}")
            if not done.is_same:
                problems.append(f"{client} with {name}: the wrap changed something")
    figures["clients"] = found


def _budget(folder: Path, figures: dict[str, object], problems: list[str]) -> None:
    found = read_with_every_client(lambda name: _place(folder / name).work)
    for names, pages in found.items():
        print(f"{names:<30} {pages:>4} pages")
        if not pages:
            problems.append(f"{names}: the pages are not the answer")
    figures["budget_pages"] = found


def _http(folder: Path, figures: dict[str, object], problems: list[str]) -> None:
    """Compare what a client gets from a server with an address, directly and through the wrap."""
    from fastmcp import Client

    async def use(url: str) -> list[object]:
        async with Client(url) as client:
            tools = [tool.model_dump() for tool in await client.list_tools()]
            answers = [await client.call_tool_mcp("echo", {"message": "x" * size}) for size in (1, 1_000, 100_000)]
            return [tools, *(answer.model_dump() for answer in answers)]

    folder.mkdir()
    with _everything_at(folder) as url:
        command = [KEYHOLE, "wrap", url]
        environment = os.environ | {"KEYHOLE_CACHE_DIR": str(folder / "cache")}
        with subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True) as wrap:
            assert wrap.stdout is not None
            address = wrap.stdout.readline().strip()
            is_same = asyncio.run(use(url)) == asyncio.run(use(address))
            wrap.terminate()
    print(f"http: {address} for {url}  same: {is_same}")
    figures["http_is_same"] = is_same
    if not is_same:
        problems.append("over HTTP, the wrap changed an answer")


@contextmanager
def _everything_at(folder: Path) -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [str(BIN / "mcp-server-everything"), "streamableHttp"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, cwd=folder, env=os.environ | {"PORT": str(port)}, **quiet) as server:  # type: ignore[call-overload]
        for _ in range(300):
            with socket.socket() as tried:
                if tried.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        try:
            yield f"http://127.0.0.1:{port}/mcp"
        finally:
            server.terminate()


def _figures(folder: Path, figures: dict[str, object], problems: list[str]) -> None:
    folder.mkdir()
    environment = {"KEYHOLE_CACHE_DIR": str(folder / "cache")}
    found = start_times(folder, environment) | latencies(folder, environment) | memory(folder, environment)
    for name, value in found.items():
        print(f"{name:<20} {value:>10,.2f}")
    problems += [f"{name}: {found[name]:.2f}, at most {most}" for name, most in _LIMITS.items() if found[name] > most]
    if found["memory_last_mb"] - found["memory_first_mb"] > _MOST_GROWTH_MB:
        problems.append("the memory of the wrap grows")
    figures |= {name: round(value, 2) for name, value in found.items()}


def _fixture(folder: Path, _: dict[str, object], problems: list[str]) -> None:
    """Write what passed with each server, always for the same folder, so that no path of this machine is in it."""
    _FIXTURE.parent.mkdir(exist_ok=True)
    with ZipFile(_FIXTURE, "w", ZIP_DEFLATED) as packed:
        for name, server in SERVERS.items():
            place = _place(folder / name)
            if not with_raw_client(server, place, _IN_FIXTURE).is_same:
                problems.append(f"{name}: the wrap changed something")
            for way in ("in", "out"):
                content = (place.logs / f"inside.{way}").read_bytes().replace(str(place.work).encode(), b"/work")
                packed.writestr(ZipInfo(f"{name}.{way}"), content, ZIP_DEFLATED)


_RUN = {
    "frames": _frames,
    "clients": _clients,
    "budget": _budget,
    "http": _http,
    "figures": _figures,
    "fixture": _fixture,
}


if __name__ == "__main__":
    main()
