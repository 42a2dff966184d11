"""The MCP server: the same views for agents."""
