"""Answers about references: lines that use a symbol, trees of calls, and hierarchies of classes."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from typing import TypeVar

from keyhole.core.errors import ParameterError
from keyhole.core.index.rows import DefinitionRow, Found, Slice
from keyhole.core.links.requests import ReferenceRelation, ReferencesRequest
from keyhole.core.notes import Note, NoteKind
from keyhole.core.references.asked_symbol import AskedSymbol, asked_symbol
from keyhole.core.references.call_tree import MOST_IN_TREE, CallNode, CallTree
from keyhole.core.references.certainty import Certainty
from keyhole.core.references.class_hierarchy import MOST_RELATIVES, ClassHierarchy, Relative
from keyhole.core.references.find import ReferenceLine, ReferenceLines, reference_lines, references_to
from keyhole.core.references.open_names import opened_resolver
from keyhole.core.references.reference import ROLE_WORDS, Reference
from keyhole.core.search.engine import Engine
from keyhole.core.search.filters import TEST_ROLES, files_matching
from keyhole.core.types.choices import Detail, Format
from keyhole.core.types.search_results import Hit
from keyhole.core.view.lists.hit_text import LOCATION, ladders, preview_text
from keyhole.core.view.lists.line_text import LinePage
from keyhole.core.view.lists.reference_hits import reference_hits
from keyhole.core.view.lists.reference_page import ReferencePage
from keyhole.core.view.lists.relation_results import RelationResults, line_results
from keyhole.core.view.text import count_of, name_text

Item = TypeVar("Item")

# The caller of code that is in no function.
_TOP_LEVEL = "top level"
_LONGEST_NAME = 80
_ROLES = sorted(set(ROLE_WORDS.values()))
_ALL_LEVELS = frozenset(Certainty)


def check_references_request(request: ReferencesRequest) -> None:
    """Reject values that no answer can have."""
    _check_choice("role", request.role, _ROLES)
    _check_choice("certainty", request.certainty, [str(level) for level in Certainty])


def find_references(engine: Engine, request: ReferencesRequest, wanted: Slice, output: Format) -> RelationResults:
    """Return what the index has for a request about references."""
    asked = asked_symbol(engine.store, request.symbol, request.path, request.line)
    definition, scope, kept = asked.definition, _Scope(engine, request), engine.kept_references()
    with opened_resolver(engine.store) as resolver:

        def references(row: DefinitionRow) -> list[Reference]:
            return kept.of(row.id, lambda: references_to(resolver, row))

        if request.relation == ReferenceRelation.REFERENCES:
            every = reference_lines(references(definition), scope.is_wanted if scope.is_narrow else None)
            results = _references(engine, definition, every, wanted, output)
        elif request.relation == ReferenceRelation.HIERARCHY:
            hierarchy = ClassHierarchy(resolver, scope.admits, scope.levels)
            results = _relatives(definition, hierarchy.relatives(definition, request.depth), wanted)
        else:
            tree = CallTree(resolver, references, scope.admits, scope.levels)
            follow = tree.callers if request.relation == ReferenceRelation.CALLERS else tree.callees
            results = _calls(definition, follow(definition, request.depth), wanted)
            results = replace(results, unit=_unit(f" {request.relation[:-1]}", results.total, definition))
    return _about(asked, results)


def _relatives(definition: DefinitionRow, relatives: list[Relative], wanted: Slice) -> RelationResults:
    found = _slice(relatives, wanted)
    results = line_results(found, relative_text, relative_facts, {one.definition.path for one in found.items})
    kinships = Counter(str(one.kinship) for one in relatives)
    page = ReferencePage(definition, kinships, relatives=found.items)
    unit = _unit(" relative", found.total, definition)
    return replace(results, unit=unit, references=page, notes=tuple(_cut_notes(found.total, MOST_RELATIVES)))


def _calls(definition: DefinitionRow, nodes: list[CallNode], wanted: Slice) -> RelationResults:
    calls = _slice(nodes, wanted)
    paths = {node.path for node in calls.items} | {node.definition.path for node in calls.items if node.definition}
    results = line_results(calls, call_text, call_facts, paths)
    levels = Counter(str(node.certainty) for node in nodes)
    page = ReferencePage(definition, levels, calls=calls.items)
    return replace(results, references=page, notes=tuple(_cut_notes(calls.total, MOST_IN_TREE)))


def _cut_notes(total: int, most: int) -> Iterable[Note]:
    """Yield that a tree ends before all of it is listed."""
    if total >= most:
        text = f"the list stops at {most:,}: a smaller depth, within or certainty shows what is missing"
        yield Note(NoteKind.TREE_CUT, text)


class _Scope:
    """The filters of a request."""

    def __init__(self, engine: Engine, request: ReferencesRequest) -> None:
        self._request = request
        self.levels = frozenset([Certainty(request.certainty)]) if request.certainty else _ALL_LEVELS
        self._paths: frozenset[str] | None = None
        if request.within or not request.include_tests:
            ids = files_matching(engine.store, request.within) if request.within else None
            self._paths = frozenset(
                file.path
                for file in engine.store.files_in()
                if (ids is None or file.id in ids) and (request.include_tests or file.role not in TEST_ROLES)
            )

    @property
    def is_narrow(self) -> bool:
        """Whether the filters may leave out anything."""
        return bool(self._request.role) or self.levels != _ALL_LEVELS or self._paths is not None

    def admits(self, path: str) -> bool:
        """Return whether the filters let a path through."""
        return self._paths is None or path in self._paths

    def is_wanted(self, reference: Reference) -> bool:
        """Return whether the filters let a reference through."""
        role = self._request.role
        return (
            (not role or reference.role_words == role)
            and reference.certainty in self.levels
            and self.admits(reference.path)
        )


def _references(
    engine: Engine, target: DefinitionRow, every: ReferenceLines, wanted: Slice, output: Format
) -> RelationResults:
    shown = every.lines[wanted.offset : wanted.offset + wanted.limit]
    hits, changed, unchecked = reference_hits(engine, target.name, shown)
    labels = [f"[{one.role}, {one.certainty}] " for one in shown]
    page = LinePage(hits, is_json=output == Format.JSON, labels=labels)
    masks = engine.store.masks_of({hit.path for hit in hits})
    return RelationResults(
        count=len(hits),
        total=len(every.lines),
        parts_of=page.parts_of,
        facts_of=lambda number, level: reference_facts(shown[number], hits[number], level),
        paths=frozenset(unchecked),
        changed=frozenset(changed),
        unit=_unit(" reference", len(every.lines), target),
        notes=tuple(_counts(every)),
        facts={"by_certainty": dict(every.by_certainty), "by_role": dict(every.by_role)},
        ladders=lambda _, __: ladders(Detail.COMPACT, hits),
        has_masks=any(masks.values()),
        masks_of=lambda number, level, text: page.masks_of(masks, number, level, text),
        references=ReferencePage(target, every.by_certainty, list(zip(shown, hits, strict=True))),
    )


def _about(asked: AskedSymbol, results: RelationResults) -> RelationResults:
    """Add which definition the answer is about."""
    row = asked.definition
    facts = {"symbol": name_text(row.qualified_name), "file_path": name_text(row.path), "line": row.name_line}
    notes = results.notes
    if asked.others:
        text = f"{count_of(asked.others, 'other definition')} with this name: add path to ask for one of those"
        notes = (*notes, Note(NoteKind.OTHER_DEFINITIONS, text))
    return replace(results, facts={**facts, **results.facts}, notes=notes, paths=results.paths | {row.path})


def _unit(noun: str, total: int, row: DefinitionRow) -> str:
    name = name_text(row.qualified_name, _LONGEST_NAME)
    preposition = "to" if noun == " reference" else "of"
    return f"{noun}{'' if total == 1 else 's'} {preposition} {name} ({name_text(row.path)}:{row.name_line})"


def _counts(every: ReferenceLines) -> Iterable[Note]:
    """Yield how many lines there are of each level and role."""
    levels = [f"{every.by_certainty[level]:,} {level}" for level in Certainty if every.by_certainty[level]]
    roles = sorted(every.by_role.items(), key=lambda pair: (-pair[1], pair[0]))
    if levels:
        by_role = ", ".join(f"{count:,} {role}" for role, count in roles)
        yield Note(NoteKind.REFERENCE_COUNTS, f"{', '.join(levels)}; by role: {by_role}")


def reference_facts(one: ReferenceLine, hit: Hit, level: str) -> dict[str, object]:
    """Return a line with a reference as JSON facts."""
    place = {"line": one.line, "role": one.role, "certainty": str(one.certainty)}
    if level == LOCATION:
        return {"file_path": name_text(one.path, _LONGEST_NAME), **place}
    enclosing = hit.owner.qualified_name if hit.owner else ""
    return {
        "file_path": name_text(one.path),
        **place,
        "column": hit.column,
        "count": len(one.columns),
        "enclosing": name_text(enclosing),
        "preview": preview_text(hit),
    }


def call_text(node: CallNode, level: str) -> str:
    """Return a function in a tree of calls as a line, indented by its depth."""
    indent = "  " * (node.depth - 1)
    row = node.definition
    name = name_text(row.qualified_name if row else node.name or _TOP_LEVEL, _LONGEST_NAME)
    if level == LOCATION:
        return f"{indent}{name}\n"
    place = f"{name_text(row.path)}:{row.name_line}" if row else f"{name_text(node.path)}:{node.line}"
    calls = f", {count_of(node.calls, 'call')}" if node.calls > 1 else ""
    at = f", called at line {node.line}" if row and node.line else ""
    several = f", {node.meanings:,} definitions" if node.meanings > 1 else ""
    cycle = " ↻ already above" if node.is_cycle else ""
    more = f"{indent}… {node.left_out:,} more on this level\n" if node.left_out else ""
    return f"{indent}{place}: {name} [{node.certainty}{several}{calls}{at}]{cycle}\n{more}"


def call_facts(node: CallNode, level: str) -> dict[str, object]:
    """Return the same as JSON facts."""
    row = node.definition
    facts: dict[str, object] = {
        "symbol": name_text(row.qualified_name if row else node.name, _LONGEST_NAME),
        "depth": node.depth,
        "certainty": str(node.certainty),
    }
    if level == LOCATION:
        return facts
    if row:
        facts |= {"file_path": name_text(row.path), "line": row.name_line, "kind": row.kind}
    return facts | {
        "call_path": name_text(node.path),
        "call_line": node.line,
        "calls": node.calls,
        "meanings": node.meanings,
        "cycle": node.is_cycle,
        "left_out": node.left_out,
    }


def relative_text(one: Relative, level: str) -> str:
    """Return a related class or method as a line, indented by how far away it is."""
    indent, row = "  " * (one.depth - 1), one.definition
    name = name_text(row.qualified_name, _LONGEST_NAME)
    if level == LOCATION:
        return f"{indent}{one.kinship} {name}\n"
    return f"{indent}{one.kinship} {name_text(row.path)}:{row.name_line}: {row.kind} {name} [{one.certainty}]\n"


def relative_facts(one: Relative, level: str) -> dict[str, object]:
    """Return the same as JSON facts."""
    row = one.definition
    facts: dict[str, object] = {
        "kinship": str(one.kinship),
        "symbol": name_text(row.qualified_name, _LONGEST_NAME),
        "depth": one.depth,
        "certainty": str(one.certainty),
    }
    if level == LOCATION:
        return facts
    return facts | {"file_path": name_text(row.path), "line": row.name_line, "kind": row.kind}


def _slice(items: list[Item], wanted: Slice) -> Found[Item]:
    return Found(tuple(items[wanted.offset : wanted.offset + wanted.limit]), len(items))


def _check_choice(name: str, value: str, choices: list[str]) -> None:
    if value and value not in choices:
        raise ParameterError(name, f"must be one of {', '.join(choices)}, not {value!r}")
