"""No program logic depends on the wording of a message."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
# Names of variables that hold messages, and of those that hold errors.
MESSAGES = {"advice", "banner", "message", "messages", "note", "notes", "problem", "standing", "verdict", "warning"}
ERRORS = {"cause", "error", "exc", "exception", "failure"}
# These are mostly values of an enum, which may be compared, but not searched in.
CODES = {"reason", "how", "status"}
LOOKING = {"startswith", "endswith", "partition", "rpartition", "find", "index", "removeprefix", "removesuffix"}
# A displayed path, and a method of the standard library.
NO_SENTENCES = {"name_text", "read_text"}
MATCHING = {"match", "search", "fullmatch", "findall", "finditer"}
SENTENCE = re.compile(r"\w[,:;.]? \w")

# Allowed comparisons, by module and source, with the reason.
ALLOWED = {
    ("core/client_cuts.py", 'message.partition(f"{{{name}}}")'): "a client's own message, from assets/clients.toml",
    ("core/masking.py", '"PRIVATE KEY" in text'): "the content of a file, as the format defines it",
    ("core/search/regex_errors.py", 'message.partition(": ")'): "RE2's message; its binding gives no code",
    ("core/view/budget/tokens.py", 'term != "runs of tabs"'): "a name in the table of terms",
}


def find_decisions(source: str) -> Iterator[str]:
    """Yield each expression that searches in a message, or compares one."""
    for node in ast.walk(ast.parse(source)):
        if is_decision(node):
            yield ast.get_source_segment(source, node) or ""


def is_decision(node: ast.AST) -> bool:
    match node:
        case ast.Compare():
            return compares_words(node)
        case ast.Call(func=ast.Attribute() as function):
            return looks_into(node, function)
        case ast.Match(subject=subject):
            return is_message(subject)
        case _:
            return False


def compares_words(node: ast.Compare) -> bool:
    sides = [node.left, *node.comparators]
    if any(map(is_sentence, sides)):
        return True
    for operator, left, right in zip(node.ops, sides, sides[1:], strict=False):
        if isinstance(operator, ast.In | ast.NotIn):
            looks = is_text_of(right, MESSAGES | CODES) or (is_message(left) and holds_texts(right))
        elif isinstance(operator, ast.Eq | ast.NotEq):
            looks = any(is_message(one) and is_text(other) for one, other in ((left, right), (right, left)))
        else:
            looks = False
        if looks:
            return True
    return False


def looks_into(node: ast.Call, function: ast.Attribute) -> bool:
    if function.attr in LOOKING:
        return is_text_of(function.value, MESSAGES | CODES) or is_written(function.value)
    return function.attr in MATCHING and any(map(is_message, node.args))


def is_message(node: ast.expr) -> bool:
    return is_text_of(node, MESSAGES)


def is_text_of(node: ast.expr, names: set[str]) -> bool:
    """Return whether an expression is a message: by name, as its text, as one of several, or as that of an error."""
    match node:
        case ast.Attribute(value=value, attr="text"):
            return is_text_of(value, names)
        case ast.Name(id=name) | ast.Attribute(attr=name) | ast.Subscript(slice=ast.Constant(value=str(name))):
            return name in names
        case ast.Subscript(value=value):
            return is_text_of(value, names)
        case ast.Call(func=ast.Name(id="str"), args=[ast.Name(id=name) | ast.Attribute(attr=name)]):
            return name in names | ERRORS
        case _:
            return False


def is_written(node: ast.expr) -> bool:
    """Return whether an expression is a text for people, written in place."""
    match node:
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
            return name.endswith("_text") and name not in NO_SENTENCES
        case ast.Subscript(value=value):
            return is_written(value)
        case ast.Call(func=ast.Attribute(value=value)):
            return is_written(value)
        case _:
            return False


def is_sentence(node: ast.expr) -> bool:
    if isinstance(node, ast.Tuple | ast.List | ast.Set):
        return any(map(is_sentence, node.elts))
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and bool(SENTENCE.search(node.value))


def is_text(node: ast.expr) -> bool:
    """Return whether an expression is a non-empty text or the name of one; an empty text only tests for presence."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str) and node.value != ""
    return isinstance(node, ast.Name) and node.id.isupper()


def holds_texts(node: ast.expr) -> bool:
    if isinstance(node, ast.Tuple | ast.List | ast.Set):
        return any(map(is_text, node.elts))
    return is_text(node)


def all_decisions() -> set[tuple[str, str]]:
    paths = [path for folder in ("core", "tui", "mcp_server") for path in sorted((ROOT / folder).rglob("*.py"))]
    assert len(paths) > 150
    return {(path.relative_to(ROOT).as_posix(), found) for path in paths for found in find_decisions(path.read_text())}


def test_nothing_depends_on_the_words_of_a_message() -> None:
    assert all_decisions() == set(ALLOWED)


@pytest.mark.parametrize(
    "source",
    [
        'if "waiting for it" in message.text: pass',
        'notes = [note for note in result.notes if "mode auto" not in note]',
        'any(note.startswith("limit=") for note in self.notes)',
        'exact = candidate.signals[0][0] in ("name: exact", "name: same letters")',
        'what = hit_text(hit, passage, level).partition("\\n")[0]',
        "how = answer['notes'][0].partition(', ')[2]",
        "problem = str(message.error).partition(';')[0]",
        'if str(error) == "locked": pass',
        'if "busy" in str(error): pass',
        "if problem == WRONG_TOKEN: pass",
        'if error.reason.startswith("no room"): pass',
        'if "cut" in view.banner: pass',
        'if explanation.verdict in ("filtered", "ranked"): pass',
        're.search("damaged", message)',
        'match note:\n    case "cut": pass',
    ],
)
def test_a_decision_by_words_is_found(source: str) -> None:
    assert list(find_decisions(source))


@pytest.mark.parametrize(
    "source",
    [
        "if note.kind == NoteKind.MODE_CHOSEN: pass",
        "if said.message.event == IndexEvent.WAITING: pass",
        "if problem == TokenProblem.WRONG: pass",
        "if link.reason in BROKEN: pass",
        'if plan.reason == "token_limit": pass',
        'if problem != "": pass',
        "if path.startswith(folder): pass",
        'if "\\n" in text: pass',
    ],
)
def test_kinds_and_codes_may_be_compared(source: str) -> None:
    assert not list(find_decisions(source))
