"""From facts to the text that people and agents read."""
