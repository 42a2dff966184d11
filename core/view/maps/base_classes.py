"""The base classes and interfaces of a type, as its signature names them."""

import re

from keyhole.core.types.syntax import HOLDS_METHODS, Symbol
from keyhole.core.view.text import declared_name

_CLOSING = {"(": ")", "[": "]", "{": "}", "<": ">"}
# Where the parameters of a type are not in angle brackets, `<` is an operator.
_WITHOUT_ANGLES = frozenset(["go", "python", "ruby", "scala"])
# Where a base class is named with the arguments of its constructor.
_WITH_ARGUMENTS = frozenset(["csharp", "kotlin", "scala"])
# Everything inside brackets is searched as this character.
_INSIDE = "\0"
# How much is read after the name of a type. Lines of a map are shorter.
_LONGEST_READ = 400
_ARGUMENTS = re.compile(rf"\({_INSIDE}*\)")
# What comes before the bases is kept if it is a space, or if the class is a value: `const Point = class extends Array`.
_BEFORE = r"(?P<before> = class\S* | ?)"
_BASES = re.compile(rf"{_BEFORE}(?P<bases>(?<!:):(?!:)|\b(?:extends|implements)\b)")
_BASES_IN = {
    "go": re.compile(rf"{_BEFORE}(?P<bases>\b(?:struct|interface) \{{{_INSIDE}+\}})"),
    "python": re.compile(rf"{_BEFORE}(?P<bases>(?<![^\]\s])\({_INSIDE}+\))"),
    "ruby": re.compile(rf"{_BEFORE}(?P<bases><)"),
}
# Conditions on type parameters, and the classes that may extend this one.
_AFTER_BASES = re.compile(r"\s+(?:where|permits)\b")
_IN_BRACKETS = re.compile(r"(?:struct |interface )?[({]\s*(.*?)\s*[)}]")


def declaration(symbol: Symbol, language: str) -> str:
    """Return a signature up to the name it declares, and the bases after it, as in `class Widget(Base)`."""
    return declared_name(symbol.signature, symbol.name) + "".join(_bases(symbol, language))


def base_names(symbol: Symbol, language: str) -> str:
    """Return only the bases, with the words before them but not with signs or brackets; empty if there are none."""
    _, bases = _bases(symbol, language)
    in_brackets = _IN_BRACKETS.fullmatch(bases)
    return in_brackets.group(1) if in_brackets else bases.lstrip(":< ")


def _bases(symbol: Symbol, language: str) -> tuple[str, str]:
    """Return the part of a signature that names the bases, and what is before it."""
    if symbol.kind not in HOLDS_METHODS:
        return "", ""
    start = len(declared_name(symbol.signature, symbol.name))
    text = symbol.signature[start : start + _LONGEST_READ]
    searched = _blank_inside(text, has_angles=language not in _WITHOUT_ANGLES)
    end = after.start() if (after := _AFTER_BASES.search(searched)) else len(text)
    found = _BASES_IN.get(language, _BASES).search(searched, 0, end)
    if not found:
        return "", ""
    start = found.start("bases")
    bases, arguments = text[start:end], _ARGUMENTS.finditer(searched, start, end)
    for one in reversed([*arguments] if language in _WITH_ARGUMENTS else []):
        bases = bases[: one.start() - start] + bases[one.end() - start :]
    return text[found.start() : start], bases.rstrip()


def _blank_inside(text: str, *, has_angles: bool) -> str:
    """Return a text of the same length with everything inside brackets blanked out; the outer brackets stay."""
    shown, expected = "", ""
    for position, character in enumerate(text):
        # A bracket that is closed ends those inside it that are not: they were operators.
        if character in expected and not (character == ">" and text[position - 1] in "-="):
            expected = expected[: expected.rindex(character)]
        shown += _INSIDE if expected else character
        if character in _CLOSING and (character != "<" or has_angles):
            expected += _CLOSING[character]
    return shown
