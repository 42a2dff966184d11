"""A bare fastmcp server with one tool, to compare ours with."""

CODE = """
import os
os.environ["FASTMCP_ENV_FILE"] = os.devnull
os.environ["FASTMCP_LOG_ENABLED"] = "false"
from fastmcp import FastMCP
server = FastMCP("bare")
@server.tool
def search_code(query: str) -> str:
    return query
server.run(show_banner=False)
"""
