"""Languages that find what a name means in their own ways: each overrides single steps of `FileNames`."""
