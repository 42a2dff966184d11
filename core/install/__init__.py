"""Adding Keyhole to the configuration of MCP clients and removing it, without changing anything else there."""
