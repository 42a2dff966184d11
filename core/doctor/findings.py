"""What a check looks at, and what it finds."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from keyhole.core.config import Settings
from keyhole.core.errors import NextSteps


class Level(StrEnum):
    """How good a finding is. A note needs no repair: something is off, unused, or could be better."""

    OK = "ok"
    NOTE = "note"
    PROBLEM = "problem"


@dataclass(frozen=True, slots=True)
class DoctorFinding:
    """One line of the report: what was looked at, what was found, and what to do about it."""

    level: Level
    subject: str
    text: str
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class Examined:
    """What the checks look at; invalid settings are replaced by the defaults."""

    root: Path
    home: Path
    settings: Settings
    environment: Mapping[str, str]
    # What to do about an error, by its kind, as the front end words it.
    steps: NextSteps


@dataclass(frozen=True, slots=True)
class Check:
    """A check by its name; it yields at least one finding."""

    name: str
    run: Callable[[Examined], Iterator[DoctorFinding]]


@dataclass(frozen=True, slots=True)
class CheckedPart:
    """The findings of one check."""

    check: str
    findings: tuple[DoctorFinding, ...]


def ok(subject: str, text: str) -> DoctorFinding:
    """Return a finding that all is well."""
    return DoctorFinding(Level.OK, subject, text)


def note(subject: str, text: str, remedy: str = "") -> DoctorFinding:
    """Return a finding that needs no repair."""
    return DoctorFinding(Level.NOTE, subject, text, remedy)


def problem(subject: str, text: str, remedy: str) -> DoctorFinding:
    """Return a finding that needs repair."""
    return DoctorFinding(Level.PROBLEM, subject, text, remedy)
