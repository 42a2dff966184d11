"""Puts Keyhole between a client and any MCP server, to record what they say to each other."""
