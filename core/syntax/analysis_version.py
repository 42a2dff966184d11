"""The version of the analysis."""

# Increase this when the same file gives different symbols, names, chunks, links or data for ranking. Index runs then
# read every file again; until they have, searches use what the index has.
ANALYSIS_VERSION = 11
