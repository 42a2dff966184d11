"""`keyhole doctor`: checks of the installation, the workspace and what is around them, each with what to do."""
