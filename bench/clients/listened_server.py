"""Runs an MCP server on stdio and logs how a client introduces itself, and which protocol version they agree on.

python listened_server.py LOG COMMAND...
"""

import json
import subprocess
import sys
import threading
from pathlib import Path
from typing import IO

_LOGGED = ("initialize", "server/discover")


def main() -> None:
    """Pass everything on, both ways, until one side ends."""
    log = Path(sys.argv[1])
    server = subprocess.Popen(sys.argv[2:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert server.stdin
    assert server.stdout
    asked: dict[object, str] = {}
    threading.Thread(target=_pass_on, args=(server.stdout, sys.stdout.buffer, log, asked), daemon=True).start()
    _pass_on(sys.stdin.buffer, server.stdin, log, asked)
    server.stdin.close()
    server.wait(10)


def _pass_on(source: IO[bytes], target: IO[bytes], log: Path, asked: dict[object, str]) -> None:
    for line in source:
        _note(json.loads(line), log, asked)
        target.write(line)
        target.flush()


def _note(message: dict[str, object], log: Path, asked: dict[object, str]) -> None:
    """Log requests that introduce the client, and what is answered."""
    method, number = str(message.get("method", "")), message.get("id")
    if method in _LOGGED:
        asked[number] = method
        facts = message
    elif number in asked and not method:
        facts = {"answer_to": asked.pop(number), **message}
    else:
        return
    with log.open("a") as file:
        file.write(json.dumps(facts) + "\n")


if __name__ == "__main__":
    main()
