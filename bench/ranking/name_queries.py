"""Names as queries: those defined once, and those defined in several files of which one is meant."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from random import Random

from code_files import TYPES, Definition, is_test

from keyhole.core.roles.file_roles import role_by_path
from keyhole.core.search.query import letters_of

MOST_FILES = 15
SHORTEST_NAME = 4
_FUNCTIONS = frozenset(["function", "macro"])
_MEMBERS = frozenset(["method", "property", "function", "constant"])
# Every type may have these; nobody asks for one of them by its bare name.
_TOO_COMMON = frozenset(
    re.findall(
        r"\w+",
        "constructor init initialize new main tostring equals hashcode clone copy get set run call apply dispose close",
    )
)
_DOUBLE_COLON = frozenset(["rust", "cpp", "php", "ruby"])
_IDENTIFIER = re.compile(r"[A-Za-z_$][\w$]*[?!]?")


@dataclass(frozen=True, slots=True)
class Named:
    """A query that names a definition, with all places that answer it, in one file."""

    query: str
    answers: tuple[Definition, ...]


def unique_names(definitions: Iterable[Definition], random: Random) -> Iterator[Named]:
    """Yield names that a project defines once, in random order, at most one of a file, some in another spelling."""
    groups = sorted(_by_letters(definitions).items())
    random.shuffle(groups)
    used = set()
    for _, group in groups:
        found = group[0]
        is_distinct = found.symbol.kind in TYPES or len(spaced(found.symbol.name).split()) > 1
        if len(group) == 1 and found.path not in used and is_distinct and _is_asked_for(found):
            used.add(found.path)
            yield Named(respell(found.symbol.name, random), (found,))


def ambiguous_names(definitions: Iterable[Definition], random: Random) -> Iterator[Named]:
    """Yield names that several files define, where one file's definition is clearly meant, in random order."""
    groups = sorted(_by_letters(found for found in definitions if not is_test(found.path)).items())
    random.shuffle(groups)
    for _, group in groups:
        if not 2 <= len({found.path for found in group}) <= MOST_FILES:
            continue
        meant = [answers for name in sorted({found.symbol.name for found in group}) if (answers := _meant(name, group))]
        if meant:
            answers = random.choice(meant)
            yield Named(answers[0].symbol.name, answers)


def owned_names(definitions: Iterable[Definition], random: Random) -> Iterator[Named]:
    """Yield members by owner and name, if types in several files have such a member, in random order."""
    definitions = list(definitions)
    types = {found.symbol.name for found in definitions if found.symbol.kind in TYPES}
    groups: dict[str, list[Definition]] = defaultdict(list)
    for found in definitions:
        if (
            found.owner in types
            and _IDENTIFIER.fullmatch(found.symbol.name)
            and found.symbol.kind in _MEMBERS
            and not is_test(found.path)
        ):
            groups[letters_of(found.symbol.name)].append(found)
    shuffled = sorted(groups.items())
    random.shuffle(shuffled)
    for _, group in shuffled:
        owners = {letters_of(found.owner) for found in group}
        if len(owners) < 2 or not 2 <= len({found.path for found in group}) <= MOST_FILES:
            continue
        found = random.choice(sorted(group, key=_place))
        same = [other for other in group if letters_of(other.owner) == letters_of(found.owner)]
        answers = _best(same, found.symbol.name)
        # A constructor that has the name of its type is found by that name alone.
        is_asked_for = answers and _is_asked_for(answers[0]) and answers[0].owner != answers[0].symbol.name
        if is_asked_for and _IDENTIFIER.fullmatch(answers[0].owner):
            yield Named(with_owner(answers[0], random), answers)


def with_owner(found: Definition, random: Random) -> str:
    """Return a member with its owner, in one of the ways people write that."""
    owner, name = found.owner, found.symbol.name
    join = "::" if found.language in _DOUBLE_COLON else "."
    plain = f"{spaced(owner)} {spaced(name)}"
    return random.choice([f"{owner} {name}", f"{owner} {name}", f"{owner}{join}{name}", plain])


def respell(name: str, random: Random) -> str:
    """Return a name as it is, or in another spelling: in words, in snake case, in camel case."""
    words = spaced(name).split()
    if len(words) < 2 or random.random() < 0.6:
        return name
    camel = words[0] + "".join(word.capitalize() for word in words[1:])
    spelled = [" ".join(words), "_".join(words), camel]
    return random.choice([other for other in spelled if other != name])


def spaced(name: str) -> str:
    """Return the words of a name in lower case."""
    parts = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name)
    return " ".join(parts).lower() or name


def _by_letters(definitions: Iterable[Definition]) -> dict[str, list[Definition]]:
    groups: dict[str, list[Definition]] = defaultdict(list)
    for found in definitions:
        if _IDENTIFIER.fullmatch(found.symbol.name):
            groups[letters_of(found.symbol.name)].append(found)
    return groups


def _is_asked_for(found: Definition) -> bool:
    name = letters_of(found.symbol.name)
    is_telling = len(name) >= SHORTEST_NAME and name not in _TOO_COMMON and not found.symbol.name.startswith("__")
    # Macros of C that look like functions.
    is_macro_call = found.language in ("c", "cpp") and found.symbol.name.isupper() and found.symbol.kind != "macro"
    return is_telling and found.may_answer and not is_macro_call


def _meant(name: str, group: list[Definition]) -> tuple[Definition, ...]:
    """Return the definitions of a name in the one file that is clearly meant; empty if none is."""
    answers = _best(group, name)
    if not answers or not _is_asked_for(answers[0]):
        return ()
    best = answers[0]
    # A single ordinary word such as `connect` may mean any of the places that define it.
    is_distinct = best.symbol.kind in TYPES or len(spaced(name).split()) > 1
    return answers if is_distinct and best.symbol.name == name else ()


def _best(group: list[Definition], name: str) -> tuple[Definition, ...]:
    """Return the definitions in the one file whose best one dominates those of all other files; empty if none does."""
    by_file: dict[str, list[Definition]] = defaultdict(list)
    for found in group:
        by_file[found.path].append(found)
    firsts = {path: min(found, key=lambda one: (_faults(one, name), _place(one))) for path, found in by_file.items()}
    path, first = min(firsts.items(), key=lambda item: (sum(_faults(item[1], name)), item[0]))
    mine = _faults(first, name)
    for other_path, other in firsts.items():
        theirs = _faults(other, name)
        if other_path != path and (theirs == mine or any(a > b for a, b in zip(mine, theirs, strict=True))):
            return ()
    if mine[0]:
        return ()
    return tuple(found for found in sorted(by_file[path], key=_place) if _faults(found, name) == mine)


def _faults(found: Definition, name: str) -> tuple[int, int, int, int]:
    """Return what speaks against a definition being meant, respect by respect; all zero is best."""
    kind = found.symbol.kind
    level = 0 if kind in TYPES else 1 if kind in _FUNCTIONS else 2 if kind == "method" else 3
    is_declared_only = found.language in ("c", "cpp") and found.lines < 3 and level
    return int(found.symbol.name != name), level, int(bool(is_declared_only)), int(role_by_path(found.path) != "source")


def _place(found: Definition) -> tuple[str, int]:
    return found.path, found.symbol.start_line
