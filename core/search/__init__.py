"""From a query to ranked hits: modes, filters, fusion, ranking and explanations."""
