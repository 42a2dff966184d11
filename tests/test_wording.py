"""What people and models read is in plain words: none of the phrases that were hard to understand comes back."""

import re

import pytest
from string_list import Kind, ReadText, all_texts, texts_of_source

# Phrases that a reader had to read twice. Each is quaint in every place where it was found.
OLD_PHRASES = (
    "passed over",
    "pass over",
    "anew",
    "goes on",
    "is told",
    "are told",
    "tell whether",
    "tell what",
    "what stands",
    "as it stands",
    "one walks",
    "as one types",
    "turned away",
    "for want of",
    "in vain",
    "takes that in",
    "is admitted",
    "answer to all",
    "gave out",
    "if need be",
    "every door",
    "limit of lines",
    "without a word",
    "of the answers were cut",
    "was cut",
    "were cut",
    "that is not passed",
)
_OLD = re.compile(rf"\b(?:{'|'.join(map(re.escape, OLD_PHRASES))})\b", re.IGNORECASE)
# A changelog quotes what it replaces.
_QUOTES = ("CHANGELOG.md",)
# `b'…'`, and doubled words such as "class class".
_PYTHON_BYTES = re.compile(r"\bb'")
_DOUBLED = re.compile(r"\b([A-Za-z]{2,}) \1\b", re.IGNORECASE)


def problems_of(text: ReadText) -> list[str]:
    found = [match.group() for match in _OLD.finditer(text.text)]
    found += [match.group() for match in _DOUBLED.finditer(text.text) if text.kind != Kind.COMMENT]
    found += [match.group() for match in _PYTHON_BYTES.finditer(text.text) if text.kind == Kind.STRING]
    return found


def test_no_text_uses_the_old_vocabulary() -> None:
    texts = [text for text in all_texts() if text.path not in _QUOTES]
    assert len(texts) > 4_000
    assert [(str(text), found) for text in texts if (found := problems_of(text))] == []


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        ('def f():\n    """Tell whether it is."""\n', Kind.DOCSTRING),
        ("# What is passed over is not indexed.\n", Kind.COMMENT),
        ('raise ValueError(f"{path} was cut at {limit}")\n', Kind.STRING),
        ("note = 'class class Client'\n", Kind.STRING),
    ],
)
def test_the_list_has_every_kind_of_text(source: str, kind: Kind) -> None:
    (found,) = [text for text in texts_of_source(source, "x.py") if problems_of(text)]
    assert found.kind == kind
