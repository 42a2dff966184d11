"""The MCP server: serves the views to agents."""
