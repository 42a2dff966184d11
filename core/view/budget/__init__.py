"""What an answer may cost: limits, sizes in tokens and characters, and fitting results into a budget."""
