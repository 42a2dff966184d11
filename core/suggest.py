"""Suggestions for a name or a path that does not exist: the closest ones that do."""

import re
from collections.abc import Iterable
from difflib import SequenceMatcher
from heapq import nlargest, nsmallest

_MOST = 3
_MOST_LISTED = 20
# Below this ratio, two names are too different for one to be a misspelling of the other.
_LEAST_RATIO = 0.6
# A name is not suggested if its ratio is this much lower than the best one.
_CLOSE_TO_BEST = 0.15
# difflib takes about 30 µs per name, so with many paths only the likeliest names are compared.
_MOST_COMPARED = 500
_MOST_PAIRS = 12
_LONGEST_NAME = 100
# A shorter part of a name is in too many others.
_SHORTEST_PART = 3
_WORD_ENDS = re.compile(r"[-_.\s]")


def suggest_name(given: str, names: Iterable[str]) -> str:
    """Return a sentence that suggests the closest names, or lists the first names if none is close."""
    known = list(names)
    if close := close_names(given, known):
        return did_you_mean(close)
    return f"Choose from: {', '.join(known[:_MOST_LISTED])}" if known else ""


def close_names(given: str, names: Iterable[str]) -> list[str]:
    """Return the names closest to a misspelled one, closest first."""
    given = given[:_LONGEST_NAME].casefold()
    ratios = [(_ratio(given, name.casefold()), name) for name in names]
    best = max((ratio for ratio, _ in ratios), default=0.0)
    lowest = max(_LEAST_RATIO, best - _CLOSE_TO_BEST)
    return [name for ratio, name in sorted(ratios, key=lambda pair: -pair[0]) if ratio >= lowest][:_MOST]


def suggest_paths(given: str, paths: Iterable[str], *, with_folders: bool = False) -> list[str]:
    """Return up to three paths similar to a missing one.

    The same name in another folder comes first, then paths that continue it and names that contain it as a word, then
    close names.
    """
    given = given.replace("\\", "/").removeprefix("./").strip("/").casefold()
    folder, _, name = given.rpartition("/")
    stem, extension = _split_extension(name)
    if not stem:
        return []
    folders = set(folder.split("/"))
    same: list[str] = []
    longer: list[str] = []
    by_stem: dict[str, list[str]] = {}
    # A name with an extension is rarely meant as a folder.
    for path in _with_parents(paths) if with_folders and not extension else paths:
        own_name = path.rpartition("/")[2].casefold()
        if own_name == name:
            same.append(path)
            continue
        own_stem = _split_extension(own_name)[0]
        is_word = stem in own_stem and own_name.endswith(extension) and stem in _WORD_ENDS.split(own_stem)
        if len(stem) >= _SHORTEST_PART and (is_word or path.casefold().startswith(given)):
            longer.append(path)
        else:
            by_stem.setdefault(own_stem, []).append(path)

    def distance(path: str) -> tuple[bool, int, int, str]:
        parts = path.casefold().split("/")
        return not parts[-1].endswith(extension), -len(folders.intersection(parts[:-1])), len(parts), path

    found = nsmallest(_MOST, same, key=distance)
    found += nsmallest(_MOST - len(found), longer, key=distance)
    # Beside the same name, only names that are nearly the same are worth suggesting.
    for close in _close_stems(stem, by_stem, best=1.0 if found else 0.0):
        found += nsmallest(_MOST - len(found), by_stem[close], key=distance)
    return found


def suggest_inside(folder: str, paths: Iterable[str]) -> list[str]:
    """Return up to three paths in a folder, those that are least deep first; none if it is no folder."""
    inside = (path for path in paths if path.startswith(f"{folder}/"))
    return nsmallest(_MOST, inside, key=lambda path: (path.count("/"), path))


def did_you_mean(names: list[str]) -> str:
    """Return the question that suggests names, or an empty string if there are none."""
    *first, last = names or [""]
    return f"Did you mean {', '.join(first)}{' or ' if first else ''}{last}?" if names else ""


def _ratio(one: str, other: str) -> float:
    return SequenceMatcher(None, one, other, autojunk=False).ratio()


def _split_extension(name: str) -> tuple[str, str]:
    """Split a name before its last dot; a name that starts with its only dot has no extension."""
    stem, dot, extension = name.rpartition(".")
    return (stem, dot + extension) if stem else (name, "")


def _close_stems(stem: str, stems: Iterable[str], *, best: float) -> list[str]:
    """Return the stems most similar to one, best first; `best` is the highest ratio found elsewhere."""
    pairs = [stem[start : start + 2] for start in range(min(len(stem) - 1, _MOST_PAIRS))]
    # Names outside these lengths cannot reach the lowest ratio.
    shortest = len(stem) * _LEAST_RATIO / (2 - _LEAST_RATIO)
    longest = len(stem) * (2 - _LEAST_RATIO) / _LEAST_RATIO
    fitting = [other for other in stems if shortest <= len(other) <= longest]
    likely = nlargest(_MOST_COMPARED, fitting, key=lambda other: len([1 for pair in pairs if pair in other]))
    ratios = sorted(((_ratio(stem, other), other) for other in likely), key=lambda pair: (-pair[0], pair[1]))
    best = max([best, *(ratio for ratio, _ in ratios[:1])])
    lowest = max(_LEAST_RATIO, best - _CLOSE_TO_BEST)
    return [other for ratio, other in ratios[:_MOST] if ratio >= lowest]


def _with_parents(paths: Iterable[str]) -> list[str]:
    """Return paths and all folders that contain them."""
    files = list(paths)
    folders: set[str] = set()
    for folder in {path.rpartition("/")[0] for path in files}:
        above = folder
        while above and above not in folders:
            folders.add(above)
            above = above.rpartition("/")[0]
    return [*files, *sorted(folders)]
