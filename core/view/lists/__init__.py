"""Pages of lists: search results, links, the tree and related code."""
