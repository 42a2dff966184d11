"""Git at a glance: which files changed, and who changed a line last, without running anything of the repository."""
