"""Data that ships with Keyhole."""
