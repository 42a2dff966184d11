"""Mine pairs of a description and its code from the fetched packages: a doc comment and what it documents.

    python bench/model/mine.py [--workers N]

Keyhole's own analysis finds symbols and docs. Each package has one file in .data/model/pairs, so that an interrupted
run can continue. At the end, the run writes the number of pairs of each package to manifest.csv and evaluation.csv.
"""

import argparse
import gzip
import json
import random
import re
import tarfile
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path
from typing import TypedDict

from archives import read_files
from sources import DATA, EVALUATION, MANIFEST, Package, is_reserved_path, read_packages, simplify, write_packages

from keyhole.core.syntax import docs
from keyhole.core.syntax.languages import Language, detect_language
from keyhole.core.syntax.parse import parse, trees_of
from keyhole.core.syntax.spans import Source
from keyhole.core.syntax.symbols import extract_outline

# Few packages contain these languages, so each may give more pairs. The limits: for other languages, for these.
RARE = frozenset({"bash", "csharp", "kotlin", "lua", "scala", "swift"})
MOST_PAIRS = {False: 1_500, True: 5_000}
MOST_BYTES = {False: 4_000_000, True: 60_000_000}
LONGEST_DOC, LONGEST_CODE = 400, 2_200
FEWEST_WORDS = 3

# Copies of other projects, and code whose comments rarely describe what people search for.
_PASSED_OVER = re.compile(
    r"(?:^|/)(?:_?vendor(?:ed)?|node_modules|third_?party|3rdparty|externals?|deps|subprojects|tests?|testing|__tests__|spec"
    r"|locales?|i18n|examples?|benchmarks?|fixtures|testdata|_?generated|migrations|debian)(?:/|$)"
    r"|\.min\.|\.d\.ts$|_pb2|\.pb\.|[._]test\.|\.spec\.|bundle|/(?:umd|cjs|esm\d*|fesm\d*|commonjs)/"
    r"|(?:^|/)(?:configure|config\.\w+|libtool|ltmain\.sh|install-sh|depcomp|missing|compile|ylwrap|test-driver|gradlew)$",
    re.IGNORECASE,
)
_NO_DESCRIPTION = re.compile(
    r"copyright|spdx|licen[sc]e|all rights reserved|inheritdoc"
    r"|todo|fixme|generated|do not edit|deprecated|#region|====",
    re.IGNORECASE,
)
_DOCSTRING = re.compile(r"""^[ \t]*[rRuU]{0,2}("{3}|'{3}).*?\1[ \t]*\n?""", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"\[([^\[\]]*)\]\([^()]*\)")
_ROLE = re.compile(r":\w+:`~?([^`]*)`")
_WORD = re.compile(r"[A-Za-z]{2,}")
_NAMED = re.compile(r"`([A-Za-z_][\w.]{3,})(?:\(\))?`")


class Pair(TypedDict):
    """A description, and the code that it describes."""

    language: str
    package: str
    kind: str
    name: str
    doc: str
    code: str


def main() -> None:
    """Mine every listed package, and write the counts into the lists."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--workers", type=int, default=2)
    workers = options.parse_args().workers
    (DATA / "pairs").mkdir(parents=True, exist_ok=True)
    for path in (EVALUATION, MANIFEST):
        packages = read_packages(path)
        random.Random(1).shuffle(packages)
        counted, languages = [], Counter[str]()
        with ProcessPoolExecutor(workers) as pool:
            for number, (package, found) in enumerate(
                zip(packages, pool.map(mine_package, packages, chunksize=4), strict=True)
            ):
                counted.append(replace(package, pairs=sum(found.values())))
                languages.update(found)
                if number % 50 == 0:
                    print(f"{path.stem}: {number}/{len(packages)} packages, {languages.total():,} pairs", flush=True)
        write_packages(path, [package for package in counted if package.pairs])
        print(path.stem, dict(languages.most_common()))


def pairs_file(package: Package) -> Path:
    """Return the file for the pairs of a package."""
    return DATA / "pairs" / f"{package.ecosystem}-{simplify(package.name)}.jsonl.gz"


def read_pairs(package: Package) -> Iterator[Pair]:
    """Read the pairs that were mined from a package."""
    with gzip.open(pairs_file(package), "rt") as stream:
        for line in stream:
            yield json.loads(line)


def mine_package(package: Package) -> Counter[str]:
    """Write the pairs of one package, unless they exist; return their number by language."""
    path = pairs_file(package)
    if not path.exists():
        # An index stores one sentence of each doc comment; training uses the whole first paragraph.
        setattr(docs, "first_sentence", _one_line)  # noqa: B010  # mypy would reject a plain assignment
        pairs = list(_pairs_of(package))
        partial = path.with_suffix(".partial")
        with gzip.open(partial, "wt", compresslevel=3) as stream:
            stream.writelines(json.dumps(pair) + "\n" for pair in pairs)
        partial.rename(path)
    return Counter(pair["language"] for pair in read_pairs(package) if pair["kind"] != "mention")


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _pairs_of(package: Package) -> Iterator[Pair]:
    seen: set[bytes] = set()
    symbols: dict[str, list[Pair]] = {}
    prose: list[str] = []
    room = dict(MOST_PAIRS)
    for language, text in _sources(package):
        if language.id == "markdown":
            prose.append(text)
        is_rare = language.id in RARE
        for pair in _pairs_in(package.name, language, text) if room[is_rare] else ():
            if room[is_rare] and (key := code_key(pair["code"])) not in seen:
                room[is_rare] -= 1
                seen.add(key)
                if pair["name"] and pair["kind"] != "section":
                    symbols.setdefault(pair["name"], []).append(pair)
                yield pair
    for pair in _mentions(prose, symbols):
        is_rare = pair["language"] in RARE
        if room[is_rare]:
            room[is_rare] -= 1
            yield pair


def _sources(package: Package) -> Iterator[tuple[Language, str]]:
    """Yield the readable files of a package, up to a size limit."""
    room = dict(MOST_BYTES)
    try:
        for path, content in read_files(package.folder):
            # The metadata of a wheel ends with the project's readme.
            is_metadata = path.endswith(".dist-info/METADATA")
            name = "README.md" if is_metadata else path
            language = detect_language(name, content[:200].decode("utf-8", "replace"))
            # Shell scripts often have no extension.
            is_wanted = name.endswith(".md") or detect_language(name, "").has_definitions or language.id == "bash"
            if not is_wanted or _PASSED_OVER.search(path) or is_reserved_path(path):
                continue
            if b"\0" in content or len(content) / (content.count(b"\n") + 1) > 200:
                continue
            is_rare = language.id in RARE
            room[is_rare] -= len(content)
            if room[is_rare] >= 0:
                text = content.decode("utf-8", "replace")
                yield detect_language(name, text), text.partition("\n\n")[2] if is_metadata else text
    except (tarfile.TarError, EOFError, OSError) as error:
        print(f"{package.name}: {error}")


def _pairs_in(package: str, language: Language, text: str) -> Iterator[Pair]:
    content = text.encode()
    root = parse(language, content)
    if root is None:
        return
    lines = text.split("\n")
    for symbol in extract_outline(language, trees_of(language, root, content), Source(content)).walk():
        code = "\n".join(lines[symbol.start_line - 1 : symbol.end_line])
        if language.id == "markdown":
            doc, code, kind = symbol.name, code.partition("\n")[2], "section"
        elif language.has_definitions:
            doc, kind = symbol.doc, "symbol"
            code = _DOCSTRING.sub("", code, count=1) if language.id == "python" else code
        else:
            continue
        code = code.strip()[:LONGEST_CODE]
        if (doc := clean(doc)) and len(code) >= 50 and len(code.split()) >= 8 and doc[:40] not in code:
            family = "typescript" if language.id == "tsx" else language.id
            yield Pair(language=family, package=package, kind=kind, name=symbol.name, doc=doc, code=code)


def clean(doc: str) -> str:
    """Remove markup from a description; return an empty text if it describes nothing."""
    text = _LINK.sub(r"\1", _ROLE.sub(r"\1", doc))
    text = re.sub(r"</?\w+[^<>]*>|[`*]+", " ", text)
    text = " ".join(text.split())[:LONGEST_DOC]
    if len(_WORD.findall(text)) < FEWEST_WORDS or len(text) < 14 or _NO_DESCRIPTION.search(text):
        return ""
    plain = sum(character.isascii() and (character.isalpha() or character in " .,") for character in text)
    return text if plain / len(text) > 0.75 else ""


def _mentions(prose: list[str], symbols: dict[str, list[Pair]]) -> Iterator[Pair]:
    """Pair sentences in readmes and changelogs with the code they name, without the name: queries that are not docs."""
    used: Counter[str] = Counter()
    for text in prose:
        for line in text.splitlines():
            for match in _NAMED.finditer(line):
                named = symbols.get(match.group(1).rpartition(".")[2], [])
                sentence = clean(re.sub(r"^[\s\-*+#>\d.|]+", "", _NAMED.sub(" ", line)))
                if len(named) == 1 and len(sentence.split()) >= 5 and not used[named[0]["name"]]:
                    used[named[0]["name"]] += 1
                    yield Pair(**{**named[0], "kind": "mention", "doc": sentence})


def code_key(code: str) -> bytes:
    """Return a key that is equal for copies of the same code: its first letters and digits."""
    return blake2b(re.sub(r"\W+", "", code)[:400].lower().encode(), digest_size=8).digest()


if __name__ == "__main__":
    main()
