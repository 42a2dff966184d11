"""Ignore rules: Keyhole's default rules, then the .gitignore and .keyholeignore of each folder."""

from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from importlib.resources import files

from keyhole.core.files.patterns import CompiledFiles
from keyhole.core.types import SkipReason

# Within a folder, later files override earlier ones; the files of a deeper folder override those above it.
IGNORE_FILES = (".gitignore", ".keyholeignore")
# The ignore files of a workspace cannot re-include these, since the workspace is untrusted.
FINAL_REASONS = frozenset([SkipReason.SECRET, SkipReason.INTERNAL])
# The version of the matching rules; a change makes the next walk check every path again.
# 2: `a/*` no longer matches the folder `a` itself.
# 3: names with zero-width or tag characters are skipped.
_MATCHING_VERSION = 3
_compiled = CompiledFiles()


@dataclass(frozen=True, slots=True)
class Rule:
    """The pattern that decided about a path, with its file and line."""

    reason: SkipReason
    pattern: str
    source: str
    line: int

    def __str__(self) -> str:
        return f"{self.pattern} ({self.source}:{self.line})"


class RuleFile:
    """The patterns of one ignore file, relative to its folder."""

    def __init__(self, folder: str, source: str, content: str) -> None:
        self._source = source
        self._prefix = len(folder) + 1 if folder else 0
        self._patterns = _compiled.compile(content.removeprefix("\ufeff"))
        self._lines = self._patterns.lines

    def decide(self, path: str, *, is_dir: bool) -> tuple[bool, Rule] | None:
        """Return whether the path is ignored and by which rule; None if no rule matches it."""
        found = self._patterns.last_match(path[self._prefix :], is_dir=is_dir)
        if found is None:
            return None
        index, is_ignored = found
        return is_ignored, Rule(self._reason(index), self._lines[index].strip(), self._source, index + 1)

    def _reason(self, index: int) -> SkipReason:
        del index
        return SkipReason.IGNORED


class _DefaultRules(RuleFile):
    """Keyhole's default rules; the `#:` heading above a rule names its reason."""

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
    """The rules that apply in one folder; `enter` returns those of a folder below it."""

    def __init__(self, chain: tuple[RuleFile, ...] = ()) -> None:
        self._chain = chain

    def enter(self, rule_files: list[RuleFile]) -> "IgnoreRules":
        """Return the rules of a folder below, whose files override these rules."""
        return IgnoreRules((*reversed(rule_files), *self._chain)) if rule_files else self

    def decide(self, path: str, *, is_dir: bool) -> Rule | None:
        """Return the rule that ignores a path, or None if it is not ignored."""
        default = load_default_rules().decide(path, is_dir=is_dir)
        if default and default[0] and default[1].reason in FINAL_REASONS:
            return default[1]
        for rule_file in self._chain:
            if decision := rule_file.decide(path, is_dir=is_dir):
                is_ignored, rule = decision
                return rule if is_ignored else None
        return default[1] if default and default[0] else None


@cache
def load_default_rules() -> RuleFile:
    """Load and compile Keyhole's default rules."""
    return _DefaultRules(files("keyhole.assets").joinpath("skip.gitignore").read_text("utf-8"))


def rules_fingerprint(max_bytes: int) -> str:
    """Return a fingerprint of everything outside the workspace that decides which paths are skipped."""
    return f"{_default_rules_digest()} {max_bytes} {_MATCHING_VERSION}"


@cache
def _default_rules_digest() -> str:
    return blake2b(files("keyhole.assets").joinpath("skip.gitignore").read_bytes(), digest_size=8).hexdigest()
