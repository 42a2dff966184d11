"""From a query to ranked hits: modes, filters, fusion, ranking, and why a hit is where it is."""
