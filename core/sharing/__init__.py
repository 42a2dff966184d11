"""One shared server for all clients of a user: where it listens, how to reach it, and passing messages to it.

Every start of `keyhole mcp` pays for what is imported here, so these modules import almost nothing.
"""
