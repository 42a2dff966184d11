"""Whether a definition is visible outside its file, by the rules of its language."""

from bisect import bisect_left

from keyhole.core.syntax.captures import Captures, Definition
from keyhole.core.syntax.languages import Language

_HIDES_WITHIN = frozenset(["function", "method", "constant"])
_NAMESPACES = frozenset(["namespace", "module"])
_MEMBERS_ARE_PUBLIC = frozenset(["interface", "trait", "protocol"])


class Visibility:
    """Applies a language's rules to the definitions of one file."""

    def __init__(self, language: Language, captures: Captures) -> None:
        self._language = language
        self._exported = captures.exported
        self._access = sorted(captures.access, key=lambda access: access.start)
        self._access_starts = [access.start for access in self._access]

    def access_words(self, definition: Definition, holder: Definition | None) -> list[str]:
        """Return the access words that apply to a definition because of its position: at most one."""
        if self._access:
            first = bisect_left(self._access_starts, holder.start if holder else 0)
            last = bisect_left(self._access_starts, definition.start)
            for access in reversed(self._access[first:last]):
                if definition.end <= access.scope_end:
                    return [access.word] if access.word in self._language.private_words else []
        return ["private"] if holder is not None and holder.kind in self._language.hides_members else []

    def is_exported(self, name: str, modifiers: tuple[str, ...], holder: Definition | None) -> bool:
        """Return whether a definition with these modifiers is visible from outside."""
        language = self._language
        if holder is not None and holder.kind in _HIDES_WITHIN:
            return False
        if language.exported_if_capital:
            return name[:1].isupper()
        if language.private_prefix and name.startswith(language.private_prefix) and not name.endswith("__"):
            return False
        if not language.private_words.isdisjoint(modifiers):
            return False
        if holder is None or holder.kind in _NAMESPACES:
            return language.file_words.isdisjoint(modifiers) and self._has_export_word(name, modifiers)
        is_public = holder.kind in _MEMBERS_ARE_PUBLIC or not language.members_need_export_word
        return is_public or self._has_export_word(name, modifiers)

    def _has_export_word(self, name: str, modifiers: tuple[str, ...]) -> bool:
        words = self._language.export_words
        return not words or not words.isdisjoint(modifiers) or name in self._exported
