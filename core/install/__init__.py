"""Putting Keyhole into the configuration of MCP clients, and taking it out, without harm to what else is there."""
