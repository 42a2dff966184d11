"""An MCP server made with fastmcp that uses every feature a wrap may meet: the server of `wrapped_servers.py`."""

import asyncio

from fastmcp import Context, FastMCP
from fastmcp.exceptions import ToolError
from fastmcp.tools import ToolResult
from mcp.types import ImageContent, TextContent

mcp = FastMCP("every-feature", instructions="Use any of it.")


@mcp.tool
def add(one: int, other: int) -> dict[str, int]:
    """Add two numbers; the answer is structured."""
    return {"sum": one + other}


@mcp.tool(meta={"anthropic/maxResultSizeChars": 90_000}, annotations={"readOnlyHint": True})
def long_text(size: int) -> str:
    """Return a long text."""
    return "grüße 漢字 " * (size // 9)


@mcp.tool
def picture() -> ToolResult:
    """Return a text and a picture."""
    image = ImageContent(type="image", data="aGVsbG8=", mime_type="image/png")
    return ToolResult(content=[TextContent(type="text", text="a picture"), image])


@mcp.tool
def fail() -> str:
    """Fail."""
    raise ToolError("It failed, as it was asked to.")


@mcp.tool
async def slow(steps: int, ctx: Context) -> str:
    """Report progress."""
    for step in range(steps):
        await ctx.report_progress(step, steps, f"step {step}")
        await asyncio.sleep(0.001)
    return "done"


@mcp.resource("note://{name}")
def note(name: str) -> str:
    """Return a note."""
    return f"The note {name}."


@mcp.resource("data://all")
def everything() -> str:
    """Return all data."""
    return "all data"


@mcp.prompt
def review(code: str) -> str:
    """Ask for a review."""
    return f"Review this: {code}"


if __name__ == "__main__":
    mcp.run(show_banner=False)
