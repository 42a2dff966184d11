"""Search results and explanations as plain text and as data."""

from dataclasses import asdict

from keyhole.core.types import Explanation, Hit, SearchResult


def search_text(result: SearchResult) -> str:
    """Render a page of hits, one line each."""
    lines = [_summary(result), *(f"Note: {note}." for note in result.notes)]
    return "\n".join([*lines, *(hit_line(hit) for hit in result.hits)]) + "\n"


def search_facts(result: SearchResult) -> dict[str, object]:
    """Give the same page as plain data, for JSON."""
    return {
        "mode": result.mode,
        "results": [asdict(hit) for hit in result.hits],
        "pagination": {
            "total": result.total,
            "limit": result.query.limit,
            "offset": result.query.offset,
            "has_more": result.query.offset + len(result.hits) < result.total,
        },
        "notes": list(result.notes),
        "index": {"generation": result.generation, "pending": result.pending},
    }


def hit_line(hit: Hit) -> str:
    """Render one hit on one line."""
    label = hit.signature or hit.name
    return f"{hit.path}:{hit.line}:[{hit.kind}] ({hit.score:.2f})" + (f" {label}" if label else "")


def explanation_text(found: Explanation) -> str:
    """Render why a file is where it is, signal by signal."""
    lines = [f"{found.path}: {found.verdict}"]
    if found.hit:
        lines.append(hit_line(found.hit))
        lines += [
            f"  {signal.effect:+.4f}  {signal.name}" + (f" ({signal.detail})" if signal.detail else "")
            for signal in found.hit.signals
        ]
    return "\n".join(lines) + "\n"


def _summary(result: SearchResult) -> str:
    if not result.hits:
        return "Nothing found." if not result.total else f"No hits at offset {result.query.offset} of {result.total:,}."
    first = result.query.offset + 1
    return f"Showing {first}-{first + len(result.hits) - 1} of {result.total:,}"
