"""A client for language servers on stdin and stdout, as far as finding references needs one."""

import json
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any
from urllib.parse import unquote, urlsplit

from oracles.places import Asked, Place, place_from_utf16, utf16_column


class LanguageServer:
    """A running server that has one project open; use it in a `with` statement."""

    def __init__(
        self, command: Sequence[str], project: Path, language: str, settings: Mapping[str, object] | None = None
    ) -> None:
        self._project = project.resolve()
        self._language = language
        self._settings = settings or {}
        self._lines: dict[str, list[str]] = {}
        self._open: set[str] = set()
        self._last = 0
        self.offered: dict[str, Any] = {}
        self._process = subprocess.Popen(
            command, cwd=project, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )

    def __enter__(self) -> "LanguageServer":
        root = self._project.as_uri()
        capabilities = {
            "workspace": {"configuration": True, "workspaceFolders": True},
            "textDocument": {"references": {}, "synchronization": {}, "semanticTokens": {"requests": {"full": True}}},
            "window": {"workDoneProgress": True},
        }
        self.offered = self.ask(
            "initialize",
            {
                "processId": None,
                "rootUri": root,
                "workspaceFolders": [{"uri": root, "name": self._project.name}],
                "capabilities": capabilities,
            },
        )["capabilities"]
        self.tell("initialized", {})
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.wait()

    def references(self, asked: Asked) -> frozenset[Place] | None:
        """Return every place of a definition, with its own name; None if the server knows no definition there."""
        places = self.places(asked, with_declarations=True)
        return places if asked[:3] in places else None

    def places(self, asked: Asked, *, with_declarations: bool) -> frozenset[Place]:
        """Return the places that refer to what is named at a place."""
        line = self.line(asked.path, asked.line)
        question = {
            "textDocument": self.show(asked.path),
            "position": {"line": asked.line - 1, "character": utf16_column(line, asked.column)},
            "context": {"includeDeclaration": with_declarations},
        }
        found = self.ask("textDocument/references", question)
        return frozenset(place for one in found or () if (place := self._place(one)) is not None)

    def show(self, path: str) -> dict[str, str]:
        """Open a file in the server, since some answer only for open files; return how requests name it."""
        uri = (self._project / path).as_uri()
        if path not in self._open:
            self._open.add(path)
            text = (self._project / path).read_bytes().decode("utf-8", "replace")
            document = {"uri": uri, "languageId": self._language, "version": 1, "text": text}
            self.tell("textDocument/didOpen", {"textDocument": document})
        return {"uri": uri}

    def tell(self, method: str, parameters: object) -> None:
        """Send a notification."""
        self._send({"method": method, "params": parameters})

    def ask(self, method: str, parameters: object) -> Any:  # whatever the server says
        """Send a request and return its result; requests of the server are answered in the meantime."""
        self._last += 1
        self._send({"id": self._last, "method": method, "params": parameters})
        while (message := self._next()).get("id") != self._last or "method" in message:
            pass
        if "error" in message:
            raise RuntimeError(f"{method}: {message['error']}")
        return message.get("result")

    def wait_for_log(self, text: str) -> None:
        """Wait until the server logs a message with this text: some answer before they have read the project."""
        while text not in self._next().get("params", {}).get("message", ""):
            pass

    def wait_for_end(self, token: str) -> None:
        """Wait until the server says that some work is done."""
        is_done = False
        while not is_done:
            said = self._next().get("params", {})
            is_done = said.get("token") == token and said.get("value", {}).get("kind") == "end"

    def _next(self) -> dict[str, Any]:
        """Return the next message; if it is a request of the server, answer it."""
        message = self._receive()
        if "method" in message and "id" in message:
            self._send({"id": message["id"], "result": self._answer(message)})
        return message

    def _answer(self, message: dict[str, Any]) -> object:
        if message["method"] != "workspace/configuration":
            return None
        return [self._section(item.get("section", "")) for item in message["params"]["items"]]

    def _section(self, name: str) -> object:
        value: object = self._settings
        for part in name.split(".") if name else ():
            value = value.get(part) if isinstance(value, Mapping) else None
        return value

    def _place(self, found: dict[str, Any]) -> Place | None:
        file = Path(unquote(urlsplit(found["uri"]).path))
        if not file.is_relative_to(self._project):
            return None
        path = file.relative_to(self._project).as_posix()
        start = found["range"]["start"]
        line = start["line"] + 1
        return place_from_utf16(path, line, self.line(path, line), start["character"])

    def line(self, path: str, line: int) -> str:
        """Return a line of a file, counted from 1."""
        if path not in self._lines:
            text = (self._project / path).read_bytes().decode("utf-8", "replace")
            self._lines[path] = text.replace("\r\n", "\n").split("\n")
        return self._lines[path][line - 1]

    def _send(self, message: dict[str, object]) -> None:
        content = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self._process.stdin
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(content), content))
        self._process.stdin.flush()

    def _receive(self) -> dict[str, Any]:
        assert self._process.stdout
        size = 0
        while (header := self._process.stdout.readline().strip()) or not size:
            if not header and self._process.poll() is not None:
                raise RuntimeError(f"the language server stopped with {self._process.returncode}")
            name, _, value = header.partition(b":")
            if name.lower() == b"content-length":
                size = int(value)
        message: dict[str, Any] = json.loads(self._process.stdout.read(size))
        return message
