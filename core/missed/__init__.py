"""Why an agent did not see a file: what took it away from an answer, and what would have shown it."""
