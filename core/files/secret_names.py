"""Secret names: which paths are never served because of their name, and which of those the user readmits.

The names are in assets/secrets.gitignore, each group with its source. Letters match in either case: on a file system
that ignores case, `.ENV` opens `.env`, and on others it holds the same kind of content.
"""

import re
from functools import cache

from keyhole.core.files.ignore import Rule, load_secret_rules
from keyhole.core.files.patterns import PatternList
from keyhole.core.masking import mask_text
from keyhole.core.types.source_files import SecretPolicy, SkipReason

# What editors, tools and people add to the name of a copy: `.env~`, `#.env#`, `.env.bak`, `.env copy`, `.env (1)`.
_WORDS = r"\.(?:bak|backup|old|orig|save|saved|copy|tmp)"
_COPY = r"(?: -)? copy(?: \d+)?| ?\(\d{1,3}\)"
_BACKUP_END = re.compile(rf"(?:[~#]|{_WORDS}|\.(?:sw[op]|\d{{1,14}})|{_COPY})+\Z")
# Most names end otherwise, and seeing that takes a tenth of the time.
_BACKUP_ENDS = (*"~#)0123456789", ".bak", "up", ".old", ".orig", "save", "saved", "copy", ".tmp", ".swo", ".swp")
_BACKUP_START = re.compile(r"\A(?:\.?#|\.(?=\.))")
# The same before the extension, which keeps a file usable: `wp-config.old.php`, `credentials (1).json`.
_BACKUP_MIDDLE = re.compile(rf"(?:{_WORDS}|{_COPY}|-copy)+(?=\.\w+\Z)")
# Program source and texts about it are named after the secrets that they handle: `id_rsa_parser.py`, `.env.d.ts`.
# Shell scripts are not in the list, because many only set variables.
_SOURCE_END = re.compile(
    r"\.(?:pyi?|go|[cm]?[jt]s|[jt]sx|vue|svelte|rs|java|kt|scala|groovy|rb|php|[ch]|cc|[ch]pp|cs|fs|swift|mm?|dart|lua"
    r"|p[lm]|r|jl|exs?|erl|hs|ml|clj|zig|nim|sol|md|rst)\Z"
)
# `src/cvs` is a folder with source.
_UPPER_CASE_RULES = frozenset(["cvs/"])
# The index needs the real name of each file, so a file whose name contains a token is not indexed.
_SHORTEST_TOKEN = 18
_TOKEN_RULE = Rule(SkipReason.SECRET, "a token in the name", "keyhole's secret rules", 0)


class SecretNames:
    """Decides by name; `policy.readmits` are patterns of paths that are served in spite of their name."""

    def __init__(self, policy: SecretPolicy) -> None:
        self._rules = load_secret_rules()
        self._masks = policy.masks
        self._patterns = policy.readmits
        self._readmitted = PatternList(list(policy.readmits)) if policy.readmits else None

    def rule_of(self, path: str, *, is_dir: bool) -> Rule | None:
        """Return the rule that makes a path secret; None if it is not, or if the user readmits it."""
        if self._readmitted is None:
            return self._own_rule(path, is_dir=is_dir)
        # The walk enters a secret folder for the sake of a readmitted path in it, so the folders above count here.
        found, end = None, 0
        while end < len(path):
            end = path.find("/", end + 1) if "/" in path[end + 1 :] else len(path)
            part, part_is_dir = path[:end], is_dir or end < len(path)
            found = found or self._own_rule(part, is_dir=part_is_dir)
            if found and found.reason == SkipReason.SECRET and self.readmits(part, is_dir=part_is_dir):
                found = None
        return None if found and is_dir and self._leads_to_readmitted(path, found) else found

    def readmits(self, path: str, *, is_dir: bool = False) -> bool:
        """Return whether the user has named a path to be served in spite of its name or content."""
        verdict = self._readmitted.last_match(path, is_dir=is_dir) if self._readmitted else None
        return verdict is not None and verdict[1]

    def _leads_to_readmitted(self, folder: str, rule: Rule) -> bool:
        is_named = any(pattern.removeprefix("/").startswith(f"{folder}/") for pattern in self._patterns)
        return is_named and rule.reason == SkipReason.SECRET

    def _own_rule(self, path: str, *, is_dir: bool) -> Rule | None:
        own_name = path.rpartition("/")[2]
        if self._masks and len(own_name) >= _SHORTEST_TOKEN and mask_text(own_name) != own_name:
            return _TOKEN_RULE
        folder, slash, name = path.casefold().rpartition("/")
        name = name if is_dir else original_name(name)
        verdict = self._rules.decide(f"{folder}{slash}{name}", is_dir=is_dir)
        if verdict is None or not verdict[0]:
            return None
        return verdict[1] if _applies(verdict[1].pattern, own_name, name, is_dir=is_dir) else None


def _applies(pattern: str, own_name: str, original: str, *, is_dir: bool) -> bool:
    """Return whether a pattern that matches a name is meant for it: not for folders of code, and not for source."""
    if is_dir:
        return pattern.endswith("/") and (pattern not in _UPPER_CASE_RULES or own_name.isupper())
    return "*" not in pattern.rpartition("/")[2] or _SOURCE_END.search(original) is None


def original_name(name: str) -> str:
    """Return the name of the file that a backup was made from; any other name as it is."""
    if name.endswith(_BACKUP_ENDS):
        without_end = _BACKUP_END.sub("", name)
        name = _BACKUP_START.sub("", without_end) or name if without_end != name else name
    if name.count(".") > 1 or " " in name or "(" in name or "-copy." in name:
        name = _BACKUP_MIDDLE.sub("", name) or name
    return name


@cache
def secret_names(policy: SecretPolicy) -> SecretNames:
    """Return the rules of a policy, compiled once."""
    return SecretNames(policy)
