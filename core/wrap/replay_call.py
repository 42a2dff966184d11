"""Replays a call of a wrapped server: starts the server again as it was recorded, and makes the same request."""

from collections.abc import Mapping
from pathlib import Path

from keyhole.core.errors import ConfigError, ServerError
from keyhole.core.install.machine import Machine
from keyhole.core.journal.reader import JournalReader
from keyhole.core.journal.wrapped_answers import recorded_answer
from keyhole.core.masking import MASK_START
from keyhole.core.types.calls import Call, WrappedServer
from keyhole.core.wrap.install_wrap import ClientWraps
from keyhole.core.wrap.original_texts import OriginalTexts
from keyhole.core.wrap.recorded_tools import recorded_tools
from keyhole.core.wrap.server_address import ServerAddress
from keyhole.core.wrap.server_process import ServerProcess
from keyhole.core.wrap.server_session import Transport, connected


def replay_call(reader: JournalReader, root: Path, call: Call, arguments: Mapping[str, object]) -> str:
    """Return the answer of the server now, as the journal would store it."""
    server = next((each for each in reader.servers() if each.name == call.server), None)
    if server is None:
        raise ServerError(f"the journal does not say how {call.server} is started")
    is_tool = call.tool in recorded_tools(reader, call.server) or "/" not in call.tool
    with connected(_transport(server, root)) as session:
        if call.tool == "initialize":
            return recorded_answer({"result": session.introduction}).stored
        given = {"name": call.tool, "arguments": dict(arguments)} if is_tool else arguments
        return recorded_answer(session.request("tools/call" if is_tool else call.tool, given)).stored


def _transport(server: WrappedServer, root: Path) -> Transport:
    if MASK_START in " ".join([*server.command, server.url]):
        raise ServerError(f"{server.name} was started with a secret, which is not recorded: it can't be started again")
    if server.url:
        return ServerAddress(server.url)
    folder = Path(server.folder)
    if not folder.is_dir():
        raise ServerError(f"{server.name} ran in {folder}, which no longer exists")
    return ServerProcess(server.command, folder, _environment(server, root))


def _environment(server: WrappedServer, root: Path) -> Mapping[str, str]:
    """Return the variables that the client's entry sets: they may hold tokens, so the journal does not have them."""
    try:
        entries = ClientWraps(root, Machine(Path.home()), OriginalTexts()).all()
        found = (each.environment for each in entries if each.server == server.name and each.command == server.command)
        return next(found, {})
    except ConfigError:
        return {}
