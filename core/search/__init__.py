"""From a query to ranked hits: modes, filters, candidates, ranking and explanations."""
