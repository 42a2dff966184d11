"""Measure the error of the token estimate against real tokenizers, on packages that its weights were not fitted on.

    .venv/bin/python bench/tokens.py [--fit | --count-fixtures] [--record]

With --fit it prints new weights for core/view/budget/tokens.py instead, from the packages for fitting. With
--count-fixtures it writes the true counts for tests/test_tokens.py.
The first run fetches about 90 packages and the tokenizers (see token_samples.py).
"""

import argparse
import json
import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from record import HERE, save_record
from token_samples import Sample, load_samples, load_tokenizers

from keyhole.core.view.budget.tokens import MILLI, TERMS, count_terms, estimate_tokens

Vector = NDArray[np.float64]

# Each real tokenizer and its weights. None were fitted on cl100k: it shows how well weights generalise.
WEIGHTS_FOR = {"claude": "claude", "o200k": "o200k", "cl100k": "o200k"}
FITTED = ("claude", "o200k")
TARGETS = {"mean": 0.08, "p95": 0.20}
SPEED_CHARACTERS = 80_000
EVERY = "All"
FIXTURES = HERE.parent / "tests" / "fixtures"

# The range of some weights, in tokens; the default is zero to infinity. Long runs of these characters are rare in code
# but must not be free, and no character costs more tokens than it has bytes.
LEAST = {"spaces": 0.015, "tabs": 0.125, "rule characters": 0.015}
MOST = {"symbols": 3.0, "East Asian": 3.0, "emoji": 4.0}


def main() -> None:
    """Run the benchmark, or the step that an option selects."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--fit", action="store_true", help="fit new weights and print them")
    options.add_argument("--count-fixtures", action="store_true", help="count the tokens of the tests' fixtures")
    options.add_argument("--record", action="store_true", help="store the result under bench/records")
    chosen = options.parse_args()
    tokenizers = load_tokenizers()
    if chosen.count_fixtures:
        count_fixtures(tokenizers)
        return
    samples = load_samples("fit" if chosen.fit else "test")
    counts = {
        name: np.array([count(sample.text) for sample in samples], dtype=float) for name, count in tokenizers.items()
    }
    if chosen.fit:
        print_weights({name: fit(samples, counts[name]) for name in FITTED})
        return
    figures = measure(samples, counts)
    if chosen.record:
        print("recorded as", save_record("tokens", figures))


def measure(samples: list[Sample], counts: dict[str, Vector]) -> dict[str, object]:
    """Compare the estimate with the true counts, and print the results."""
    errors = {
        name: summarize(samples, relative_errors(samples, weights, counts[name]))
        for name, weights in WEIGHTS_FOR.items()
    }
    figures: dict[str, object] = {
        "true count above the default estimate": {name: overflow(samples, counts[name]) for name in counts},
        "speed, MB/s": measure_speed(samples),
        "targets met": {
            name: all(rows[EVERY][key] <= most for key, most in TARGETS.items()) for name, rows in errors.items()
        },
    }
    print_table(errors)
    print(*(f"{name}: {value}" for name, value in figures.items()), sep="\n")
    return figures | {"errors": errors}


def count_fixtures(tokenizers: dict[str, Callable[[str], int]]) -> None:
    """Store the true counts of the test fixtures, so that tests need no tokenizer."""
    paths = sorted((FIXTURES / "languages").glob("*/sample.*"))
    counts = {
        name: {
            path.relative_to(FIXTURES / "languages").as_posix(): tokenizers[name](path.read_text()) for path in paths
        }
        for name in FITTED
    }
    (FIXTURES / "tokens.json").write_text(json.dumps(counts, indent=2) + "\n")


def relative_errors(samples: list[Sample], weights: str, counts: Vector) -> Vector:
    """Return the relative errors of estimates; 0.1 means 10% too high."""
    return np.array([estimate_tokens(sample.text, weights) for sample in samples]) / counts - 1


def summarize(samples: list[Sample], errors: Vector) -> dict[str, dict[str, float]]:
    """Summarise errors by language and over all files."""
    languages = np.array([sample.language for sample in samples])
    groups = {EVERY: errors} | {str(name): errors[languages == name] for name in np.unique(languages)}
    return {
        name: {
            "files": len(group),
            "mean": round(float(np.abs(group).mean()), 4),
            "p95": round(float(np.quantile(np.abs(group), 0.95)), 4),
            "bias": round(float(group.mean()), 4),
        }
        for name, group in groups.items()
    }


def overflow(samples: list[Sample], counts: Vector) -> dict[str, float]:
    """Return how often the true count is above the default estimate, and by how much at p99."""
    excess = counts / np.array([estimate_tokens(sample.text) for sample in samples]) - 1
    return {
        "files": round(float((excess > 0).mean()), 4),
        "p99": round(float(np.quantile(excess, 0.99)), 4),
    }


def measure_speed(samples: list[Sample]) -> float:
    """Return the median speed in MB/s, for a text as long as the largest view."""
    text = "".join(sample.text[:2_000] for sample in samples)[:SPEED_CHARACTERS]
    size = len(text.encode()) / 1e6
    return round(float(np.median([size / _seconds(text) for _ in range(50)])), 1)


def _seconds(text: str) -> float:
    start = time.perf_counter()
    estimate_tokens(text)
    return time.perf_counter() - start


def fit(samples: list[Sample], counts: Vector) -> dict[str, int]:
    """Fit the weights by least squares of relative errors; all languages count the same."""
    terms = np.array([_count_all_terms(sample.text) for sample in samples], dtype=float)
    _, group, sizes = np.unique([sample.language for sample in samples], return_inverse=True, return_counts=True)
    importance = 1 / np.sqrt(sizes[group])
    least = np.array([LEAST.get(term, 0.0) for term in TERMS])
    most = np.array([MOST.get(term, np.inf) for term in TERMS])
    solved = bounded_least_squares(terms * (importance / counts)[:, None], importance, least, most)
    return dict(zip(TERMS, (round(MILLI * weight) for weight in solved.tolist()), strict=True))


def _count_all_terms(text: str) -> list[int]:
    found = dict(count_terms(text))
    return [found.get(term, 0) for term in TERMS]


def bounded_least_squares(matrix: Vector, target: Vector, least: Vector, most: Vector) -> Vector:
    """Solve bounded least squares: fix the unknown furthest outside its bounds, until all are inside."""
    solved = np.clip(np.zeros(matrix.shape[1]), least, most)
    free = np.ones(len(solved), dtype=bool)
    while True:
        rest = target - matrix[:, ~free] @ solved[~free]
        solved[free] = np.linalg.lstsq(matrix[:, free], rest, rcond=None)[0]
        outside = np.maximum(least - solved, solved - most)
        worst = int(np.argmax(outside))
        if outside[worst] <= 0:
            return solved
        solved[worst] = np.clip(solved[worst], least[worst], most[worst])
        free[worst] = False


def print_weights(fitted: dict[str, dict[str, int]]) -> None:
    """Print the table in the form of core/view/budget/tokens.py."""
    for name, weights in fitted.items():
        print(f'"{name}": {{')
        for term, weight in weights.items():
            print(f'    "{term}": {weight},')
        print("},")


def print_table(table: dict[str, dict[str, dict[str, float]]]) -> None:
    """Print the errors in the form of docs/tokens.md: mean, p95 and bias per tokenizer."""
    print("| language | files |" + "".join(f" {name} mean | p95 | bias |" for name in table))
    print("|---|" + "---:|" * (1 + 3 * len(table)))
    for language, row in next(iter(table.values())).items():
        cells = (
            f" {rows[language]['mean']:.1%} | {rows[language]['p95']:.1%} | {rows[language]['bias']:+.1%} |"
            for rows in table.values()
        )
        print(f"| {language} | {row['files']:.0f} |" + "".join(cells))


if __name__ == "__main__":
    main()
