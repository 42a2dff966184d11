"""Language servers as oracles: what refers to a definition, according to each. For development only."""
