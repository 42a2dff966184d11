"""Ignore rules: what ships with Keyhole, then each folder's .gitignore and .keyholeignore."""

from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from importlib.resources import files

from keyhole.core.files.patterns import PatternList
from keyhole.core.types import SkipReason

# In a folder, later files have the last word; a deeper folder's files go before a higher one's.
IGNORE_FILES = (".gitignore", ".keyholeignore")
# No rule of a workspace can bring these back: the workspace itself is not trusted with them.
FINAL_REASONS = frozenset([SkipReason.SECRET, SkipReason.INTERNAL])
# How patterns are understood; another number makes the next walk hold every path against the rules again.
# 2: `a/*` no longer matches the folder `a` itself.
_MEANING = 2


@dataclass(frozen=True, slots=True)
class Rule:
    """The pattern that decided about a path, and where it is written."""

    reason: SkipReason
    pattern: str
    source: str
    line: int

    def __str__(self) -> str:
        return f"{self.pattern} ({self.source}:{self.line})"


class RuleFile:
    """The patterns of one ignore file, relative to the folder it lies in."""

    def __init__(self, folder: str, source: str, content: str) -> None:
        self._source = source
        self._lines = content.removeprefix("\ufeff").split("\n")
        self._prefix = len(folder) + 1 if folder else 0
        self._patterns = PatternList(self._lines)

    def decide(self, path: str, *, is_dir: bool) -> tuple[bool, Rule] | None:
        """Return whether the path is ignored and by which rule; None when no rule speaks of it."""
        found = self._patterns.last_match(path[self._prefix :], is_dir=is_dir)
        if found is None:
            return None
        index, is_ignored = found
        return is_ignored, Rule(self._reason(index), self._lines[index].strip(), self._source, index + 1)

    def _reason(self, index: int) -> SkipReason:
        del index
        return SkipReason.IGNORED


class _DefaultRules(RuleFile):
    """The rules that ship with Keyhole: a heading above a rule names its reason."""

    def __init__(self, content: str) -> None:
        super().__init__("", "keyhole's default rules", content)
        reason, self._reasons = SkipReason.IGNORED, list[SkipReason]()
        for line in self._lines:
            if line.startswith("#:"):
                reason = SkipReason(line[2:].strip())
            self._reasons.append(reason)

    def _reason(self, index: int) -> SkipReason:
        return self._reasons[index]


class IgnoreRules:
    """The rules in force in one folder; `enter` gives those of a folder below it."""

    def __init__(self, chain: tuple[RuleFile, ...] = ()) -> None:
        self._chain = chain

    def enter(self, rule_files: list[RuleFile]) -> "IgnoreRules":
        """Return the rules with a deeper folder's files going first."""
        return IgnoreRules((*reversed(rule_files), *self._chain)) if rule_files else self

    def decide(self, path: str, *, is_dir: bool) -> Rule | None:
        """Return the rule that keeps a path out, or None when it is admitted."""
        default = load_default_rules().decide(path, is_dir=is_dir)
        if default and default[0] and default[1].reason in FINAL_REASONS:
            return default[1]
        for rule_file in self._chain:
            if verdict := rule_file.decide(path, is_dir=is_dir):
                return verdict[1] if verdict[0] else None
        return default[1] if default and default[0] else None


@cache
def load_default_rules() -> RuleFile:
    """Compile the rules that ship with Keyhole."""
    return _DefaultRules(files("keyhole.assets").joinpath("skip.gitignore").read_text("utf-8"))


def rules_fingerprint(max_bytes: int) -> str:
    """Identify everything outside the workspace that decides what is passed over."""
    return f"{_default_rules_digest()} {max_bytes} {_MEANING}"


@cache
def _default_rules_digest() -> str:
    return blake2b(files("keyhole.assets").joinpath("skip.gitignore").read_bytes(), digest_size=8).hexdigest()
