"""Checks of tool lists and of answers to tool calls: Keyhole's own, and those of any MCP server."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path

from keyhole.core.checks.asked_answers import AskedAnswers, tokens_of
from keyhole.core.checks.check_result import (
    CheckFinding,
    CheckStatus,
    ListedTool,
    ServerAnswer,
    ServerReport,
    ToolSource,
    facts_finding,
    finding,
)
from keyhole.core.checks.check_snapshots import first_difference, read_snapshot, snapshot_path, write_inside
from keyhole.core.checks.check_tables import AnswerTable, CallTable, ServerTable, ToolListTable
from keyhole.core.checks.content_checks import missing_text
from keyhole.core.clients import profile_named, truncate_description
from keyhole.core.delivery import deliver
from keyhole.core.errors import QueryError
from keyhole.core.suggest import suggest_name
from keyhole.core.types.choices import ToolSet
from keyhole.core.view.budget.limits import CHARACTER_LIMIT
from keyhole.core.view.budget.tokens import estimate_tokens
from keyhole.core.view.text import shorten

Rows = Iterator[tuple[str, Callable[[], CheckFinding]]]
_LONGEST_ANSWER = 120
# A client that isn't told a larger limit by the tool uses its own.
_NOTHING_DECLARED = 0


def tool_list_rows(table: ToolListTable, source: ToolSource) -> Rows:
    """Yield the cost of our tool list as it is sent, and what clients make of it."""
    yield "as sent", partial(_own_list_finding, table, source, "")
    for client in table.clients:
        yield f"as {client}", partial(_own_list_finding, table, source, client)


def _own_list_finding(table: ToolListTable, source: ToolSource, client: str) -> CheckFinding:
    profile = profile_named(client) if client else None
    tokens = source.own_cost(table.tools, profile)
    expected = f"at most {table.max_tokens:,} tokens"
    if client and (cut := _cut_descriptions(source.own_tools(table.tools), client)):
        return finding(False, expected, cut, tokens, tokens)
    return finding(tokens <= table.max_tokens, expected, f"{tokens:,} tokens", tokens, tokens)


def _cut_descriptions(tools: Sequence[ListedTool], client: str) -> str:
    """Return which descriptions a client truncates; empty if it truncates none."""
    profile = profile_named(client)
    names = [tool.name for tool in tools if truncate_description(tool.description, profile) != tool.description]
    return f"{profile.title} truncates the description of {', '.join(names)}" if names else ""


def answer_rows(table: AnswerTable, answers: AskedAnswers, source: ToolSource) -> Rows:
    """Yield a row for each client that an answer goes to."""
    for client in table.clients:
        yield f"as {client}", partial(_answer_finding, table, answers, source, client)


def _answer_finding(table: AnswerTable, answers: AskedAnswers, source: ToolSource, client: str) -> CheckFinding:
    _check_call(table, source.own_tools(ToolSet.ALL))
    profile = profile_named(client)
    sent_name = profile.names[0] if profile.names else profile.id
    answer = source.own_answer(sent_name, table.tool, table.arguments)
    answers.keep(table.title, answer.text)
    return _judged(answer, table, client, [])


def _check_call(call: AnswerTable | CallTable, tools: Sequence[ListedTool]) -> None:
    """Raise QueryError if there is no such tool, or if it has no such parameter."""
    tool = next((listed for listed in tools if listed.name == call.tool), None)
    if tool is None:
        names = [listed.name for listed in tools]
        raise QueryError(f"there is no tool {call.tool}", suggestion=suggest_name(call.tool, names))
    parameters = tool.parameters
    unknown = next((name for name in call.arguments if name not in parameters), None)
    if parameters and unknown is not None:
        raise QueryError(f"{call.tool} has no parameter {unknown}", suggestion=suggest_name(unknown, parameters))


@dataclass(frozen=True)
class ServerRun:
    """One server of a checks file: it is started once, and asked for all that its checks need."""

    table: ServerTable
    source: ToolSource
    answers: AskedAnswers
    root: Path
    updates: bool

    @cached_property
    def report(self) -> ServerReport:
        """What the server said."""
        calls = [(call.tool, call.arguments) for call in self.table.call]
        report = self.source.ask_server(self.table.server, calls, self.table.timeout)
        for call, answer in zip(self.table.call, report.answers, strict=False):
            self.answers.keep(f"{self.table.title}: {call.title}", answer.text)
        self.answers.keep(f"{self.table.title}: tool list", "\n".join(tool.sent for tool in report.tools))
        return report

    def rows(self) -> Rows:
        """Yield the checks of the tool list, then those of each call."""
        yield "tool list", self._list_finding
        if self.table.max_description:
            yield "descriptions", self._description_finding
        for client in self.table.clients:
            yield f"descriptions as {client}", partial(self._cut_finding, client)
        for number, call in enumerate(self.table.call):
            yield call.title, partial(self._call_finding, number, call)

    def _list_finding(self) -> CheckFinding:
        limit = self.table.max_tokens
        expected = f"at most {limit:,} tokens" if limit else "answers"
        if self.report.problem:
            return finding(False, expected, self.report.problem)
        tokens = estimate_tokens(f"[{','.join(tool.sent for tool in self.report.tools)}]")
        return finding(limit is None or tokens <= limit, expected, f"{tokens:,} tokens", tokens, tokens)

    def _description_finding(self) -> CheckFinding:
        limit = self.table.max_description or 0
        expected = f"at most {limit:,} characters each"
        if self.report.problem:
            return finding(False, expected, self.report.problem)
        longest = max(self.report.tools, key=lambda tool: len(tool.description), default=ListedTool("", "", ""))
        length = len(longest.description)
        return finding(length <= limit, expected, f"{longest.name}: {length:,} characters", figure=length)

    def _cut_finding(self, client: str) -> CheckFinding:
        cut = self.report.problem or _cut_descriptions(self.report.tools, client)
        return finding(not cut, "not truncated", cut or "not truncated")

    def _call_finding(self, number: int, call: CallTable) -> CheckFinding:
        if self.report.problem:
            return finding(False, "an answer", self.report.problem)
        answer = self.report.answers[number]
        if answer.is_error:
            # Servers may have tools that they do not list, so only a call that fails is looked at.
            _check_call(call, self.report.tools)
        judged = [_judged(answer, call, client, self._snapshot_facts(call, answer)) for client in call.clients or [""]]
        failed = [found for found in judged if found.status == CheckStatus.FAILED]
        return (failed or judged)[0]

    def _snapshot_facts(self, call: CallTable, answer: ServerAnswer) -> list[tuple[str, str]]:
        """Return what is expected of a snapshot, and what is wrong with it."""
        if not call.snapshot or answer.is_error:
            return []
        path = snapshot_path(f"{self.table.title} {call.title}")
        if self.updates:
            if read_snapshot(self.root, path) != answer.text:
                write_inside(self.root, path, answer.text)
            return [("matches its snapshot", "")]
        expected = read_snapshot(self.root, path)
        if expected is None:
            return [("matches its snapshot", "no snapshot yet: run keyhole check --update")]
        problem = "" if expected == answer.text else f"differs from {path}: {first_difference(expected, answer.text)}"
        return [("matches its snapshot", problem)]


def _judged(
    answer: ServerAnswer, table: AnswerTable | CallTable, client: str, others: Sequence[tuple[str, str]]
) -> CheckFinding:
    """Compare an answer with the limits of a check, as a client would deliver it."""
    profile = profile_named(client) if client else None
    tokens = estimate_tokens(answer.text, profile.tokenizer) if profile else tokens_of(answer.text)
    if answer.is_error:
        return finding(False, "an answer", f"error: {shorten(answer.text, _LONGEST_ANSWER)}", tokens)
    facts = list(others)
    if profile:
        declared = CHARACTER_LIMIT if isinstance(table, AnswerTable) else profile_limit(client)
        delivery = deliver(answer.text, profile, declared_chars=declared)
        facts.append(("delivered whole", delivery.note if delivery.overflow else ""))
    if table.max_tokens:
        over = "" if tokens <= table.max_tokens else f"{tokens:,} tokens"
        facts.append((f"at most {table.max_tokens:,} tokens", over))
    if table.shows:
        facts.append((f"shows {', '.join(map(repr, table.shows))}", missing_text(table.shows, answer.text)))
    return facts_finding(facts, tokens)


def profile_limit(client: str) -> int:
    """Return the limit that a client uses for tools that declare none."""
    rule = profile_named(client).answer
    return rule.limit if rule else _NOTHING_DECLARED
