"""Checks of the installation: Python, packages, SQLite, grammars and the model."""

import platform
import struct
import sys
import tomllib
from collections.abc import Iterator, Sequence
from importlib.metadata import PackageNotFoundError, requires, version
from importlib.resources import files

from keyhole.core.deadline import Deadline, within
from keyhole.core.doctor.findings import DoctorFinding, Examined, note, ok, problem
from keyhole.core.syntax.languages import LANGUAGES, Language
from keyhole.core.syntax.parser_process import ParserProcess
from keyhole.core.types.source_files import SourceFile

OLDEST_PYTHON = (3, 11)
_REINSTALL = "install keyhole again"
# All samples together take about a second of processor time.
_GRAMMAR_SECONDS = 60.0
_SAMPLE_TEXT = "retry a request with backoff"


def check_python(_: Examined) -> Iterator[DoctorFinding]:
    """Check the interpreter."""
    bits = struct.calcsize("P") * 8
    text = f"{platform.python_version()} ({platform.python_implementation()}, {bits} bit), {sys.executable}"
    if sys.version_info < OLDEST_PYTHON:
        yield problem("Python", text, "use Python {}.{} or later".format(*OLDEST_PYTHON))
    else:
        yield ok("Python", text)
    yield ok("System", platform.platform())
    yield ok("Keyhole", f"{version('keyhole')}, {files('keyhole')}")


def check_packages(_: Examined) -> Iterator[DoctorFinding]:
    """Check that every package that Keyhole needs is installed, in a version that it was made for."""
    needed = requires("keyhole") or []
    findings = list(package_problems(needed))
    yield from findings or [ok("Packages", f"all {len(list(_relevant(needed)))} packages have a supported version")]


def package_problems(requirements: Sequence[str]) -> Iterator[DoctorFinding]:
    """Yield a problem for each requirement that the installed packages don't meet."""
    from packaging.requirements import Requirement

    for requirement in map(Requirement, _relevant(requirements)):
        subject = f"Package {requirement.name}"
        try:
            found = version(requirement.name)
        except PackageNotFoundError:
            yield problem(subject, f"not installed, but keyhole needs {requirement}", _REINSTALL)
            continue
        if not requirement.specifier.contains(found, prereleases=True):
            yield problem(subject, f"version {found}, but keyhole needs {requirement}", _REINSTALL)


def _relevant(requirements: Sequence[str]) -> Iterator[str]:
    """Yield the requirements without those of extras."""
    return (requirement for requirement in requirements if "extra ==" not in requirement)


def check_sqlite(_: Examined) -> Iterator[DoctorFinding]:
    """Check the SQLite that comes with Keyhole, and its extensions."""
    from keyhole.core.index.health import sqlite_abilities, sqlite_version

    abilities = list(sqlite_abilities())
    failed = [problem("SQLite", f"{ability}: {fault}", _REINSTALL) for ability, fault in abilities if fault]
    yield from failed or [ok("SQLite", f"{sqlite_version()} with {', '.join(name for name, _ in abilities)}")]


def check_grammars(_: Examined) -> Iterator[DoctorFinding]:
    """Parse a sample of every language that has a grammar, in a worker process as always."""
    parser = ParserProcess()
    try:
        with within(Deadline(_GRAMMAR_SECONDS)):
            yield from grammar_findings(parser)
    finally:
        parser.close()


def grammar_findings(parser: ParserProcess) -> Iterator[DoctorFinding]:
    """Yield a problem for each language whose sample a parser can't parse."""
    samples: dict[str, str] = tomllib.loads(files("keyhole.assets").joinpath("samples.toml").read_text("utf-8"))
    languages = [language for language in LANGUAGES if language.grammar]
    faults = {language.label: _grammar_fault(parser, language, samples[language.id]) for language in languages}
    failed = [problem(f"Grammar {label}", fault, _REINSTALL) for label, fault in faults.items() if fault]
    yield from failed
    if len(failed) < len(faults):
        yield ok("Grammars", f"{len(faults) - len(failed)} of {len(faults)} languages can be parsed")


def _grammar_fault(parser: ParserProcess, language: Language, sample: str) -> str:
    """Return what is wrong with a grammar; empty if it works."""
    name = f"sample{language.extensions[0]}" if language.extensions else language.filenames[0]
    outline = parser.outline_of(SourceFile(name, len(sample), 0, "", "", sample))
    if outline.missed:
        return outline.missed
    if outline.has_errors:
        return "a valid file has syntax errors"
    return "a definition is not found" if language.has_symbols and not outline.symbols else ""


def check_model(examined: Examined) -> Iterator[DoctorFinding]:
    """Load the model and embed a text."""
    from keyhole.core.errors import ModelError
    from keyhole.core.index.model import NONE, open_embedder

    setting = examined.settings.index.model
    if setting == NONE:
        yield note("Model", "off, so search is by words only", "remove index.model from your settings to use the model")
        return
    try:
        embedder = open_embedder(setting)
        vectors = embedder.encode([_SAMPLE_TEXT]) if embedder else None
    except ModelError as error:
        yield problem("Model", f"{error.reason}; search is by words only", error.remedy)
        return
    if embedder is None or vectors is None or not vectors.any():
        yield problem("Model", f"{setting} has no vector for a plain text", _REINSTALL)
    else:
        yield ok("Model", f"{embedder.name}, {embedder.dimension:,} dimensions")
