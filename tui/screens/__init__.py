"""What fills the terminal, one at a time."""
