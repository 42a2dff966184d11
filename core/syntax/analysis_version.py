"""The version of the analysis."""

# Increase this when the same file gives different symbols, chunks or links: the next index run then reads every file.
ANALYSIS_VERSION = 6
