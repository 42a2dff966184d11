"""The findings as text, as JSON, and as a file for a bug report."""

from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path

from keyhole.core.config import STORE_URL, variable_of
from keyhole.core.doctor.diagnosis import count_problems
from keyhole.core.doctor.findings import CheckedPart, DoctorFinding
from keyhole.core.masking import mask_address, mask_text
from keyhole.core.types.choices import TOKEN_VARIABLE
from keyhole.core.view.text import count_of, one_line

_INDENT = " " * 9
# Variables that change what Keyhole or a terminal does. Others may hold anything, so none of them is written.
_VARIABLES = (
    "COLORTERM",
    "EDITOR",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "NO_COLOR",
    "PYTHONUTF8",
    "SHELL",
    "TERM",
    "TERM_PROGRAM",
    "TERM_PROGRAM_VERSION",
    "TEXTUAL_ANIMATIONS",
    "VISUAL",
    "WSL_DISTRO_NAME",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
)
_OWN_PREFIX = "KEYHOLE_"


def part_text(part: CheckedPart) -> str:
    """Return the findings of one check: a line for each, and below it what to do."""
    return "".join(f"{line}\n" for finding in part.findings for line in _lines(finding))


def _lines(finding: DoctorFinding) -> Iterator[str]:
    yield one_line(mask_text(f"{finding.level:<9}{finding.subject}: {finding.text}"))
    if finding.remedy:
        yield one_line(mask_text(f"{_INDENT}→ {finding.remedy}"))


def summary_text(parts: Sequence[CheckedPart]) -> str:
    """Return the last line of the report."""
    problems = count_problems(parts)
    return f"\n{count_of(problems, 'problem')} found.\n" if problems else "\nNo problems found.\n"


def doctor_facts(parts: Sequence[CheckedPart]) -> dict[str, object]:
    """Return the same as data."""
    return {
        "problems": count_problems(parts),
        "findings": [
            {
                "check": part.check,
                "level": finding.level.value,
                "subject": finding.subject,
                "text": mask_text(finding.text),
                "remedy": mask_text(finding.remedy),
            }
            for part in parts
            for finding in part.findings
        ],
    }


def bundle_text(parts: Sequence[CheckedPart], environment: Mapping[str, str], home: Path) -> str:
    """Return what a bug report needs, in Markdown: the findings, versions and variables.

    Secrets are masked and the home folder is `~`. Nothing of the workspace's files is in it, but names of folders are.
    """
    findings = "".join(map(part_text, parts)) + summary_text(parts)
    sections = {
        "keyhole doctor": findings,
        "Packages": "\n".join(_versions()),
        "Variables": "\n".join(_variables(environment)),
    }
    text = "\n".join(f"## {title}\n\n````text\n{body.strip()}\n````\n" for title, body in sections.items())
    return mask_text(text).replace(str(home), "~")


def _versions() -> Iterator[str]:
    """Yield the versions of the packages that Keyhole needs."""
    from packaging.requirements import Requirement

    for name in sorted({Requirement(requirement).name for requirement in requires("keyhole") or ()}):
        try:
            yield f"{name} {version(name)}"
        except PackageNotFoundError:
            yield f"{name} is not installed"


def _variables(environment: Mapping[str, str]) -> Iterator[str]:
    for name, value in sorted(environment.items()):
        if name in _VARIABLES or name.startswith(_OWN_PREFIX):
            yield f"{name}={_shown_variable(name, value)}"


def _shown_variable(name: str, value: str) -> str:
    """Return the value of a variable; no shape tells the secrets in these two from other text."""
    if name == TOKEN_VARIABLE:
        return "[secret: token]"
    return mask_address(value) if name == variable_of(STORE_URL) else one_line(value)
