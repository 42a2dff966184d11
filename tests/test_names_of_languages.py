"""The names that parsing records: each sample project has one file whose names were read line by line."""

from collections.abc import Callable

import pytest
from occurrence_text import occurrences_text
from reference_samples import SAMPLES

# The file of each sample that shows most of what its language has.
FILES = {
    "bash": "lib/jobs.sh",
    "c": "src/main.c",
    "cpp": "src/group.cpp",
    "csharp": "Store/Shelf.cs",
    "go": "pot/shelf.go",
    "java": "src/main/java/org/acme/draw/Group.java",
    "javascript": "lib/shapes.js",
    "kotlin": "src/garden/Beds.kt",
    "lua": "garden/plants.lua",
    "php": "src/Shop/Items.php",
    "python": "store/items.py",
    "ruby": "lib/shop/items.rb",
    "rust": "src/shapes/grid.rs",
    "scala": "src/main/scala/mill/grain/Stock.scala",
    "sql": "schema.sql",
    "swift": "Sources/Shapes/Drawing.swift",
    "typescript": "src/model.ts",
}


@pytest.mark.parametrize("language", sorted(folder.name for folder in SAMPLES.iterdir() if folder.is_dir()))
def test_names_of_a_file(language: str, check_golden: Callable[[str, str], None]) -> None:
    check_golden(f"names/{language}.txt", occurrences_text(SAMPLES / language / FILES[language]))
