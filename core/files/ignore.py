"""Ignore rules: secret names, then the .gitignore and .keyholeignore of each folder, then Keyhole's default rules."""

from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from importlib.resources import files
from typing import Protocol

from keyhole.core.files.patterns import CompiledFiles
from keyhole.core.types.source_files import DEFAULT_SECRETS, SecretPolicy, SkipReason

# Within a folder, later files override earlier ones; the files of a deeper folder override those above it.
IGNORE_FILES = (".gitignore", ".keyholeignore")
_DEFAULT_RULES, _SECRET_RULES = "skip.gitignore", "secrets.gitignore"
# The version of the matching rules; a change makes the next walk check every path again.
# 2: `a/*` no longer matches the folder `a` itself.
# 3: names with zero-width or tag characters are skipped; secret names match in either case, and backups of secrets are
#    secrets.
_MATCHING_VERSION = 3
_compiled = CompiledFiles()


@dataclass(frozen=True, slots=True)
class Rule:
    """The pattern that decided about a path, with its file and line; line 0 if it is not in a file."""

    reason: SkipReason
    pattern: str
    source: str
    line: int

    def __str__(self) -> str:
        return f"{self.pattern} ({self.source}:{self.line})" if self.line else f"{self.pattern} ({self.source})"


class RuleFile:
    """The patterns of one ignore file, relative to its folder."""

    def __init__(self, folder: str, source: str, content: str) -> None:
        self._source = source
        self._prefix = len(folder) + 1 if folder else 0
        self._patterns = _compiled.compile(content.removeprefix("\ufeff"))
        self._lines = self._patterns.lines

    @property
    def count(self) -> int:
        """How many rules there are."""
        return sum(bool(line.strip()) and not line.startswith("#") for line in self._lines)

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


class HeadedRules(RuleFile):
    """Rules that ship with Keyhole; the `#:` heading above a rule names its reason."""

    def __init__(self, source: str, content: str) -> None:
        super().__init__("", source, content)
        reason, self._reasons = SkipReason.IGNORED, list[SkipReason]()
        for line in self._lines:
            if line.startswith("#:"):
                reason = SkipReason(line[2:].strip())
            self._reasons.append(reason)

    def _reason(self, index: int) -> SkipReason:
        return self._reasons[index]


class PathSecrets(Protocol):
    """Decides which paths are never served; no ignore file of a workspace can change that, since it is untrusted."""

    def rule_of(self, path: str, *, is_dir: bool) -> Rule | None:
        """Return the rule that makes a path secret; None if it is not."""


class IgnoreRules:
    """The rules that apply in one folder; `enter` returns those of a folder below it."""

    def __init__(self, secrets: PathSecrets, chain: tuple[RuleFile, ...] = ()) -> None:
        self._secrets = secrets
        self._chain = chain

    def enter(self, rule_files: list[RuleFile]) -> "IgnoreRules":
        """Return the rules of a folder below, whose files override these rules."""
        return IgnoreRules(self._secrets, (*reversed(rule_files), *self._chain)) if rule_files else self

    def decide(self, path: str, *, is_dir: bool) -> Rule | None:
        """Return the rule that ignores a path, or None if it is not ignored."""
        if rule := self._secrets.rule_of(path, is_dir=is_dir):
            return rule
        for rule_file in self._chain:
            if decision := rule_file.decide(path, is_dir=is_dir):
                is_ignored, rule = decision
                return rule if is_ignored else None
        default = load_default_rules().decide(path, is_dir=is_dir)
        return default[1] if default and default[0] else None


@cache
def load_default_rules() -> RuleFile:
    """Load and compile Keyhole's default rules."""
    return HeadedRules("keyhole's default rules", _asset(_DEFAULT_RULES).decode())


@cache
def load_secret_rules() -> RuleFile:
    """Load and compile the names of secrets, in lower case."""
    return HeadedRules("keyhole's secret rules", _asset(_SECRET_RULES).decode().lower())


def rules_fingerprint(max_bytes: int, secrets: SecretPolicy = DEFAULT_SECRETS) -> str:
    """Return a fingerprint of everything outside the workspace that decides which paths are skipped."""
    return f"{_rules_digest()} {max_bytes} {_MATCHING_VERSION} {secrets.fingerprint}"


@cache
def _rules_digest() -> str:
    return blake2b(_asset(_DEFAULT_RULES) + _asset(_SECRET_RULES), digest_size=8).hexdigest()


def _asset(name: str) -> bytes:
    return files("keyhole.assets").joinpath(name).read_bytes()
