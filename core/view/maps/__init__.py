"""Maps of files: what a file imports and defines, at the first level that fits."""
