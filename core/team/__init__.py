"""A team's repositories on a PostgreSQL server: which there are, who may ask about them, and how they are indexed."""
