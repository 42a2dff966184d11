"""The keys of the content store: hashes of everything that an entry depends on.

A text is hashed after its secrets were masked, so how they are masked needs no part in a key. The versions of the
libraries that parse and embed do: an entry of another version would not be what this installation makes.
"""

import sys
import unicodedata
from functools import cache
from hashlib import blake2b
from importlib.metadata import PackageNotFoundError, version

from keyhole.core.syntax.analysis_version import ANALYSIS_VERSION

# Increase this when the packed form of an entry changes (content_parts.py).
_PACKING = 2
_LIBRARIES = ("tree-sitter", "tree-sitter-language-pack", "numpy", "tokenizers", "model2vec")
_KEY_BYTES = 32


def text_key(text: str, language: str) -> bytes:
    """Return the key of what a text alone gives, in a language."""
    # Halves of characters can't be encoded otherwise; each text has its own bytes.
    return _hash(language, text.encode("utf-8", "surrogatepass"), start=_maker())


def place_key(of_text: bytes, path: str, model: str) -> bytes:
    """Return the key of what a text gives at a path, with a model."""
    return _hash("place", of_text, path.encode("utf-8", "surrogatepass"), model)


@cache
def _maker() -> blake2b:
    """Return the hash of what all keys of texts start with: the versions of all that makes entries."""
    # Which imports are of the standard library depends on Python, and how words are split on its Unicode tables.
    python = (*map(str, sys.version_info[:2]), unicodedata.unidata_version)
    versions = (str(_PACKING), str(ANALYSIS_VERSION), *python, *map(_version_of, _LIBRARIES))
    return _hashed(blake2b(digest_size=_KEY_BYTES), "text", *versions)


def _version_of(library: str) -> str:
    try:
        return version(library)
    except PackageNotFoundError:
        return ""


def _hash(*parts: str | bytes, start: blake2b | None = None) -> bytes:
    """Hash several parts, after those of `start`."""
    return _hashed(start.copy() if start else blake2b(digest_size=_KEY_BYTES), *parts).digest()


def _hashed(hashed: blake2b, *parts: str | bytes) -> blake2b:
    """Add parts with their lengths to a hash, so that no two lists of parts give the same bytes."""
    for part in parts:
        content = part.encode() if isinstance(part, str) else part
        hashed.update(len(content).to_bytes(8, "little"))
        hashed.update(content)
    return hashed
