"""The scripted agent of `keyhole demo`: what it asks is decided before, and every answer is real.

It makes real MCP calls in this process, as clients with known names, and each call is recorded like any other.
"""

from keyhole.core.search.sample_queries import SampleQueries
from keyhole.core.service import Service
from keyhole.core.types.demo import DemoStep
from keyhole.mcp_server.import_fastmcp import import_fastmcp
from keyhole.mcp_server.local import call_as
from keyhole.mcp_server.run_server import quiet_libraries

_CLAUDE, _CODE = "claude-code", "Visual Studio Code"
# A client whose limits Keyhole does not know, so that it answers with all that is asked for.
_UNKNOWN = "unknown-client"
_VERSION = "demo"


def demo_steps(samples: SampleQueries) -> list[DemoStep]:
    """Return the script for a workspace, made from its own names."""
    question, path = samples.words or samples.name, samples.path
    too_much = {"query": question, "detail_level": "rich", "limit": 50}
    return [
        DemoStep(
            _CLAUDE, "search_code", {"query": question}, "An agent asks in plain words. It gets places, not files."
        ),
        DemoStep(
            _CLAUDE, "map_file", {"path": path}, "Before it reads, it asks what a file defines, with line ranges."
        ),
        DemoStep(
            _CLAUDE,
            "read_file",
            {"path": path, "start_line": 1, "max_lines": 40},
            "It reads 40 lines. The first line of the answer says where the file continues.",
        ),
        DemoStep(
            _CLAUDE,
            "search_code",
            {**too_much, "max_tokens": 2_000},
            "It asks for 50 results with source in 2,000 tokens. What does not fit is shortened or left out, and the "
            "first line says so. Replay: the same with less detail.",
            replay={**too_much, "detail_level": "minimal", "max_tokens": 2_000},
        ),
        DemoStep(_CLAUDE, "search_code", {"query": question, "limit": 3}, "It asks for a page of three results."),
        DemoStep(_CLAUDE, "search_code", {"query": question, "limit": 3, "offset": 3}, "And for the next page."),
        DemoStep(_CLAUDE, "find_references", {"symbol": samples.name}, "It asks what uses a definition."),
        DemoStep(
            _CLAUDE,
            "search_code",
            {"query": question},
            "It asks the first question again. Traffic marks repeated calls.",
        ),
        DemoStep(
            _CLAUDE, "read_file", {"path": f"{path}.old"}, "It guesses a path. The error says what there is instead."
        ),
        DemoStep(
            _UNKNOWN,
            "search_code",
            {**too_much, "max_tokens": 20_000},
            "An unknown client asks for up to 20,000 tokens. The lens shows what VS Code would pass on of that.",
            lens="vscode",
        ),
        DemoStep(
            _CODE, "search_code", too_much, "VS Code asks the same. Keyhole keeps to what it is known to pass on."
        ),
    ]


class DemoAgent:
    """Makes the calls of the script on one workspace; everything in here imports fastmcp."""

    def __init__(self, service: Service) -> None:
        import_fastmcp()
        from keyhole.mcp_server.server import build_server

        quiet_libraries()
        # As with a real server: its own readers of the index, and the journal of the workspace.
        self._service = Service(service.root, service.settings)
        self._journal = self._service.journal()
        # Each server is a conversation, so each client gets one of its own.
        self._servers = {
            client: build_server(self._service, journal=self._journal) for client in (_CLAUDE, _UNKNOWN, _CODE)
        }

    async def call(self, step: DemoStep) -> str:
        """Make a call and return its text."""
        text, _ = await call_as(self._servers[step.client], (step.client, _VERSION), step.tool, step.arguments)
        return text

    def close(self) -> None:
        """Write the rest of the journal and close the index."""
        if self._journal:
            self._journal.close()
        self._service.close()
