"""Changing one entry of a client's file, by default ours, after checking that nothing else in the file changes."""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from keyhole.core.errors import ConfigError
from keyhole.core.install import json_text

NAME = "keyhole"


class ConfigFormat(Protocol):
    """The functions of a module that edits files of one format; each raises ValueError for a file it cannot read."""

    def parse(self, text: str) -> dict[str, object]:
        """Parse a text."""

    def set_entry(self, text: str, section: str, name: str, entry: dict[str, object]) -> str:
        """Return the text with an entry added to a section."""

    def remove_entry(self, text: str, section: str, name: str) -> str:
        """Return the text without an entry."""


@dataclass(frozen=True, slots=True)
class EntryEditor:
    """Edits one entry in the text of a file, by default ours; `advice` says what to do if that is not safe."""

    path: Path
    section: str
    advice: str
    name: str = NAME

    @property
    def _format(self) -> ConfigFormat:
        # Imported only here because tomlkit and PyYAML are slow to import.
        if self.path.suffix == ".toml":
            from keyhole.core.install import toml_text

            return toml_text
        if self.path.suffix in (".yaml", ".yml"):
            from keyhole.core.install import yaml_text

            return yaml_text
        return json_text

    def added(self, text: str, entry: dict[str, object]) -> str:
        """Return the text with the entry; other keys of an existing entry are kept."""
        return self._edited(text, entry)

    def removed(self, text: str) -> str:
        """Return the text without the entry; the same text if there is none."""
        return self._edited(text, None)

    def current(self, text: str) -> dict[str, object] | None:
        """Return the entry in a text, if there is one."""
        return self.entries(text).get(self.name)

    def entries(self, text: str) -> dict[str, dict[str, object]]:
        """Return every entry of the section, by name."""
        try:
            servers = self._format.parse(text).get(self.section)
        except ValueError as error:
            raise self._refusal(str(error)) from None
        found = servers if isinstance(servers, dict) else {}
        return {name: entry for name, entry in found.items() if isinstance(entry, dict)}

    def _edited(self, text: str, entry: dict[str, object] | None) -> str:
        form = self._format
        try:
            before = form.parse(text)
            new = (
                form.remove_entry(text, self.section, self.name)
                if entry is None
                else form.set_entry(text, self.section, self.name, entry)
            )
            after = form.parse(new)
        except ValueError as error:
            raise self._refusal(str(error)) from None
        if self._comparable(after) != self._comparable(self._expected(before, entry)):
            raise self._refusal("its layout is unusual")
        return new

    def is_all_else_same(self, text: str, new: str) -> bool:
        """Return whether two texts say the same, except about the entry."""
        try:
            before, after = self._format.parse(text), self._format.parse(new)
        except ValueError:
            return False
        return self._comparable(self._expected(before, None)) == self._comparable(self._expected(after, None))

    def _refusal(self, reason: str) -> ConfigError:
        return ConfigError(f"cannot edit {self.path} safely ({reason}); the file was not changed; {self.advice}")

    def _expected(self, before: dict[str, object], entry: dict[str, object] | None) -> dict[str, object]:
        """Return the facts that a file must contain after the change."""
        servers = before.get(self.section)
        others = dict(servers) if isinstance(servers, dict) else {}
        old = others.pop(self.name, {})
        if entry is not None:
            others[self.name] = (old if isinstance(old, dict) else {}) | entry
        return {**before, self.section: others}

    def _comparable(self, facts: dict[str, object]) -> dict[str, object]:
        """Return the facts without the section if nothing is in it: it may come and go with our entry."""
        return {name: value for name, value in facts.items() if name != self.section or value not in ({}, None)}
