"""Shortens answers of other servers: finds their records, fits as many as the budget allows, and keeps the rest."""
