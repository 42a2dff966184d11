"""Feed hostile source to every grammar through the parsing worker, and count what became of it.

    .venv/bin/python bench/fuzz_grammars.py [--seed N] [--language ID] [--record]

Deep nesting of every bracket, indentation, interpolation, heredoc, string and comment form, truncated files, random
bytes and random splices of the sample files. A file that cannot be parsed has a reason in its outline; any other
failure ends the run.
"""

import argparse
import random
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from record import save_record

from keyhole.core.syntax.languages import LANGUAGES, Language
from keyhole.core.syntax.parser_process import ParserProcess
from keyhole.core.types.source_files import SourceFile

SAMPLES = Path(__file__).parent.parent / "tests" / "fixtures" / "languages"
LEVELS = (300, 1_500, 10_000)
# Each is repeated; every language gets all of them, since one language's bracket is another's comment.
BRACKETS = [
    "(",
    "[",
    "{",
    "<",
    "<a>",
    "((",
    "({",
    "[{",
    "{[",
    "[[",
    "<!--",
    "/*",
    "(*",
    "{-",
    "--[[",
    "{{",
    "{%",
    "<%",
    "<?",
]
STRINGS = [
    '"',
    "'",
    "`",
    '"""',
    "'''",
    '"${',
    "`${",
    '"#{',
    '"\\(',
    'f"{',
    "f'{",
    '$"{',
    "$(",
    "${",
    "$((",
    '@"',
    'r#"',
    "%q(",
    "%w[",
]
WORDS = ("- ", "? ", "- ? ", "> ", "* ", "1. ", "a: ", "not ", "if x ", "if (x) ", "else ", "begin ", "!", "-", "a=")
HEREDOCS = ("cat <<E\n", "<<~E\n", "<<<E\n", "<<'E'\n", "x = <<E\n")
WORKERS = 2
RANDOM_FILES = 20
SPLICES = 40


def main() -> None:
    """Fuzz, print a table, and with --record store the result."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--language", help="the id of one language")
    options.add_argument("--record", action="store_true", help="store the result under bench/records")
    chosen = options.parse_args()
    languages = [one for one in LANGUAGES if one.grammar and chosen.language in (None, one.id)]
    figures: dict[str, object] = {"seed": chosen.seed, "languages": len(languages)}
    totals: Counter[str] = Counter()
    with ThreadPoolExecutor(WORKERS) as threads:
        for language, counts in zip(languages, threads.map(partial(fuzz, chosen.seed), languages), strict=True):
            totals += counts
            figures[f"{language.id}: inputs"] = counts["inputs"]
            for outcome in sorted(counts.keys() - {"inputs", "parsed"}):
                figures[f"{language.id}: {outcome}"] = counts[outcome]
            print_counts(language.id, counts)
    figures |= {f"all: {name}": count for name, count in sorted(totals.items())}
    print_counts("all", totals)
    if chosen.record:
        print(save_record("fuzz-grammars", figures))


def print_counts(name: str, counts: "Counter[str]") -> None:
    """Print one line of the table."""
    print(f"{name:<16}" + ", ".join(f"{count:,} {outcome}" for outcome, count in sorted(counts.items())), flush=True)


def fuzz(seed: int, language: Language) -> "Counter[str]":
    """Parse every input, and count how each ended."""
    counts: Counter[str] = Counter()
    path = f"a{language.extensions[0]}" if language.extensions else language.filenames[0]
    parser = ParserProcess()
    for text in inputs(language, random.Random(f"{seed} {language.id}")):
        started = time.monotonic()
        outline = parser.outline_of(SourceFile(path, len(text.encode()), 0, "", "utf-8", text))
        counts["inputs"] += 1
        counts[outline.missed.removeprefix(f"the {language.label} grammar ") or "parsed"] += 1
        if time.monotonic() - started > 2:
            counts["took over 2 s"] += 1
    parser.close()
    return counts


def inputs(language: Language, chance: random.Random) -> Iterator[str]:
    """Yield hostile source for a language."""
    samples = [file.read_bytes().decode() for file in sorted((SAMPLES / language.id).rglob("*")) if file.is_file()]
    for levels in LEVELS:
        for unit in (*BRACKETS, *STRINGS, *WORDS, *HEREDOCS):
            yield unit * levels + "x\n"
        deep = min(levels, 1_500)
        for word in ("a:\n", "- a\n", "if x:\n", "begin\n", "x\n"):
            yield "".join(" " * depth + word for depth in range(deep))
            yield "".join("\t" * depth + word for depth in range(deep))
    for _ in range(RANDOM_FILES):
        yield chance.randbytes(chance.randrange(1, 4_000)).decode("utf-8", "replace").replace("\0", " ")
        yield "".join(chance.choices("(){}[]<>\"'`$#@!%^&*-+=|\\/:;,.? \n\tabc01", k=chance.randrange(1, 4_000)))
    for _ in range(SPLICES if samples else 0):
        one, other = chance.choice(samples), chance.choice(samples)
        yield one[: chance.randrange(len(one) + 1)]
        yield one[: chance.randrange(len(one) + 1)] + other[chance.randrange(len(other) + 1) :]


if __name__ == "__main__":
    main()
