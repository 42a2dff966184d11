"""The screens of the explorer."""
