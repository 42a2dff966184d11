"""Why an agent did not see a file, as text and as JSON facts."""

from collections.abc import Mapping
from dataclasses import asdict

from keyhole.core.missed.missed_file import MissedFile, TakenBy
from keyhole.core.missed.remedies import Remedy
from keyhole.core.view.asked_text import asked_text
from keyhole.core.view.text import count_of, json_line, name_text, one_line

_MOST_CALLS = 5
_LONGEST_ASKED = 60
_NOTHING_TO_ADVISE = (TakenBy.NOTHING, TakenBy.REQUEST, TakenBy.NO_ANSWER)
# The facts say already what took the file away.
_SAYS_ITSELF = (TakenBy.INDEX, TakenBy.FILTER, TakenBy.MATCHING)
_ADVICE = {
    TakenBy.INDEX: "No parameters of a search show a file that is not indexed.",
    TakenBy.MATCHING: "No parameters show it for this query; another query may.",
}


def missed_text(found: MissedFile) -> str:
    """Return what happened to a file in an answer, and what would have shown it."""
    path, why = name_text(found.path), one_line(found.why)
    lines = [f"{path}: {why}"] if found.taken_by in _SAYS_ITSELF else [f"{path}: {found.taken_by}", f"  {why}"]
    if found.remedies:
        lines += ["", "  Shown with (checked now):"]
        width = max(len(parameters_text(remedy.parameters)) for remedy in found.remedies)
        lines += [f"    {_remedy_text(remedy, width)}" for remedy in found.remedies]
    elif found.taken_by not in _NOTHING_TO_ADVISE:
        lines += ["", f"  {_ADVICE.get(found.taken_by, 'No single change of the parameters shows it.')}"]
    if found.shown_in:
        lines += ["", "  Shown by other calls of this conversation:"]
        lines += [
            f"    #{call.id} {name_text(call.tool)} {asked_text(call, _LONGEST_ASKED)}"
            for call in found.shown_in[:_MOST_CALLS]
        ]
        more = len(found.shown_in) - _MOST_CALLS
        lines += [f"    and {more:,} more"] if more > 0 else []
    return "\n".join(lines) + "\n"


def missed_facts(found: MissedFile) -> dict[str, object]:
    """Return the same as JSON facts."""
    return {
        "path": found.path,
        "call": found.call.id,
        "tool": found.call.tool,
        "taken_by": found.taken_by,
        "why": found.why,
        "rank": found.rank,
        "total": found.total,
        "shown_with": [asdict(remedy) for remedy in found.remedies],
        "shown_in": [call.id for call in found.shown_in],
    }


def parameters_text(parameters: Mapping[str, object]) -> str:
    """Return parameters as an agent writes them; without any, the same call."""
    written = [f"{name}={_value_text(value)}" for name, value in parameters.items()]
    return " ".join(written) or "the same parameters"


def _value_text(value: object) -> str:
    return value if isinstance(value, str) and value else json_line(value)


def _remedy_text(remedy: Remedy, width: int) -> str:
    place = f"result {remedy.place:,} of {remedy.returned:,}, {count_of(remedy.tokens, 'token')}"
    return f"{parameters_text(remedy.parameters):<{width}}  → {place}"
