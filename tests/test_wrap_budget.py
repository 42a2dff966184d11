"""keyhole wrap --budget: which messages change, our tool among those of the server, output schemas, and restarts."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema.validators import validator_for
from rebuilt_answers import Result, next_call, note_of
from test_wrap_stdio import SERVER, Wrapped, call, lines, request

from keyhole.core.errors import QueryError
from keyhole.core.workspace.clearing import clear_folder
from keyhole.core.wrap.budget_choice import answer_budget, is_certain_budget
from keyhole.core.wrap.budget_rewriter import BudgetedServer, BudgetRewriter
from keyhole.core.wrap.rewriting import Reply, ToServer
from keyhole.core.wrap.run_wrap import run_if_plain
from keyhole.core.wrap.shortening.answer_budget import TokenBudget
from keyhole.core.wrap.shortening.cut_answers import CannotShortenError, Shortener
from keyhole.core.wrap.shortening.kept_answers import KeptAnswers
from keyhole.core.wrap.shortening.output_schemas import NOTE, allows_shorter

LONG = "\n".join(f"line {number} of a long answer" for number in range(1_000))
Exchange = Callable[[dict[str, Any], dict[str, Any]], dict[str, Any]]


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> BudgetedServer:
    monkeypatch.setenv("KEYHOLE_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "work").mkdir()
    return BudgetedServer("1000", tmp_path / "work")


def exchange(rewriter: BudgetRewriter, asked: dict[str, Any], result: Result) -> Result:
    """Return what the client gets for a result of the server."""
    sent = json.dumps(asked).encode()
    assert rewriter.request(sent) == ToServer(sent)
    got = rewriter.response(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}).encode())
    parsed = json.loads(got)
    assert parsed["id"] == asked["id"]
    found = parsed["result"]
    assert isinstance(found, dict)
    return found


def more(rewriter: BudgetRewriter, arguments: dict[str, Any], name: str = "keyhole_more", **extra: Any) -> Result:
    reply = rewriter.request(
        json.dumps(request("more", "tools/call", name=name, arguments=arguments, **extra)).encode()
    )
    assert isinstance(reply, Reply)
    parsed = json.loads(reply.message)
    assert parsed["id"] == "more"
    found = parsed["result"]
    assert isinstance(found, dict)
    return found


def text_result(text: str, **rest: Any) -> Result:
    return {"content": [{"type": "text", "text": text}], **rest}


def tool(name: str, **rest: Any) -> dict[str, Any]:
    return {"name": name, "inputSchema": {"type": "object"}, **rest}


def names(result: Result) -> list[str]:
    return [each["name"] for each in result["tools"]]


@pytest.mark.parametrize(
    "message",
    [
        b"",
        b"not JSON",
        b'{"jsonrpc": "2.0",  "method": "notifications/progress", "params": {"progress": 1}}',
        b'{"jsonrpc":"2.0","id":1,"method":"sampling/createMessage","params":{}}',
        b'{"jsonrpc":"2.0","id":99,"result":{"content":[{"type":"text","text":"' + b"x " * 9_000 + b'"}]}}',
        b'[{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"' + b"x " * 9_000 + b'"}]}}]',
        b"[" * 5_000,
    ],
)
def test_what_is_no_answer_to_a_call_passes_as_the_same_bytes(server: BudgetedServer, message: bytes) -> None:
    rewriter = BudgetRewriter(server)
    rewriter.request(json.dumps(call(1)).encode())
    assert rewriter.response(message) == message
    assert rewriter.request(message) == ToServer(message)


def test_errors_and_small_answers_pass_as_the_same_bytes(server: BudgetedServer) -> None:
    rewriter = BudgetRewriter(server)
    for body in ('"error": {"code": -1, "message": "no"}', '"result":  {"content": [] }', '"result": {"task": {}}'):
        rewriter.request(json.dumps(call(1)).encode())
        message = f'{{"jsonrpc": "2.0", "id": 1,  {body}}}'.encode()
        assert rewriter.response(message) == message


def test_a_long_answer_is_shortened_and_its_rest_is_served_after_a_restart(
    server: BudgetedServer, tmp_path: Path
) -> None:
    first = exchange(BudgetRewriter(server), call("a"), text_result(LONG, isError=False, _meta={"x": 1}))
    assert (first["isError"], first["_meta"]["x"]) == (False, 1)
    assert note_of(first).startswith("[Keyhole shortened this answer to 1,000 tokens. Shown: lines 1-")
    arguments = next_call(first)
    assert arguments
    again = BudgetRewriter(BudgetedServer("1000", tmp_path / "work"))
    assert more(again, arguments)["content"][0]["text"].startswith(f"line {arguments['offset']} of a long answer\n")
    assert "resultType" not in more(again, arguments)
    modern: dict[str, Any] = {"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}}
    assert more(again, arguments, **modern)["resultType"] == "complete"


def test_clearing_a_workspace_deletes_kept_answers(server: BudgetedServer) -> None:
    exchange(BudgetRewriter(server), call(1), text_result(LONG))
    folder = server.kept._folder
    assert folder.is_dir()
    assert clear_folder(folder.parent)
    assert not folder.exists()
    assert not clear_folder(folder.parent)


def test_our_tool_is_added_once_after_the_last_page(server: BudgetedServer) -> None:
    rewriter = BudgetRewriter(server)
    first = exchange(rewriter, request(1, "tools/list"), {"tools": [tool("a")], "nextCursor": "2"})
    last = exchange(rewriter, request(2, "tools/list", cursor="2"), {"tools": [tool("b")], "ttlMs": 5})
    assert (names(first), names(last), last["ttlMs"]) == (["a"], ["b", "keyhole_more"], 5)
    assert last["tools"][-1]["annotations"]["readOnlyHint"]


def test_a_tool_of_the_server_keeps_its_name_and_its_calls(server: BudgetedServer) -> None:
    rewriter = BudgetRewriter(server)
    unknown = json.dumps(call(1, tool="keyhole_more", handle="0123456789")).encode()
    assert rewriter.request(unknown) == ToServer(unknown), "before the list is known"
    exchange(rewriter, request(1, "tools/list"), {"tools": [tool("keyhole_more")], "nextCursor": "2"})
    listed = exchange(rewriter, request(2, "tools/list", cursor="2"), {"tools": [tool("b")]})
    assert names(listed) == ["b", "keyhole_more_2"]
    short = exchange(rewriter, call(3, tool="keyhole_more"), text_result(LONG))
    assert "Next page: keyhole_more_2(" in note_of(short)
    assert more(rewriter, next_call(short) or {}, name="keyhole_more_2")["content"]


def test_an_image_and_a_link_beside_a_long_text_stay(server: BudgetedServer) -> None:
    beside = [
        {"type": "resource_link", "uri": "file:///a", "name": "a"},
        {"type": "resource", "resource": {"uri": "file:///b", "text": "short"}},
    ]
    result = text_result(LONG)
    result["content"] = [beside[0], *result["content"], beside[1]]
    shown = exchange(BudgetRewriter(server), call(1), result)["content"]
    assert (shown[0], shown[2]) == (beside[0], beside[1])
    image = {"type": "image", "mimeType": "image/png", "data": "A" * 4_000}
    wide = BudgetedServer("4000", server._root)
    assert (
        exchange(BudgetRewriter(wide), call(1), {"content": [*text_result(LONG * 2)["content"], image]})["content"][1]
        == image
    )


def test_an_image_over_the_budget_is_named(server: BudgetedServer) -> None:
    image = {"type": "image", "mimeType": "image/png", "data": "A" * 4_000}
    shown = exchange(BudgetRewriter(server), call(1), {"content": [image]})["content"]
    assert shown[0]["text"] == "[image image/png: larger than the budget]"


def test_what_cannot_be_kept_passes_and_stderr_says_so(
    server: BudgetedServer, capfd: pytest.CaptureFixture[str]
) -> None:
    (server.kept._folder.parent).mkdir(parents=True)
    server.kept._folder.write_text("a file where the folder should be")
    assert exchange(BudgetRewriter(server), call(1), text_result(LONG)) == text_result(LONG)
    assert "keyhole wrap: passing an answer of look as it is: " in capfd.readouterr().err


ROWS = {"type": "object", "properties": {"rows": {"type": "array", "items": {"type": "object"}}}, "required": ["rows"]}
STRICT = {**ROWS, "additionalProperties": False}


def test_schemas_without_a_shorter_form_are_removed_and_others_stay(server: BudgetedServer) -> None:
    rewriter = BudgetRewriter(server)
    tools = [tool("free", outputSchema=ROWS), tool("strict", outputSchema=STRICT), tool("none")]
    listed = exchange(rewriter, request(1, "tools/list"), {"tools": tools})["tools"]
    assert listed[:3] == [tools[0], tool("strict"), tool("none")]
    rows = {"rows": [{"id": number, "name": "somebody"} for number in range(500)]}
    result = text_result(json.dumps(rows), structuredContent=rows)
    free = exchange(rewriter, call(2, tool="free"), result)
    assert 0 < len(free["structuredContent"]["rows"]) < 500
    assert free["structuredContent"][NOTE] == note_of(free)
    assert "structuredContent" not in exchange(rewriter, call(3, tool="strict"), result)


def test_a_schema_that_is_listed_only_after_a_call_is_removed(server: BudgetedServer) -> None:
    """The SDK's client lists tools after a call if it does not know the tool, to check the answer."""
    rewriter = BudgetRewriter(server)
    rows = {"rows": [{"id": number} for number in range(900)]}
    result = text_result(json.dumps(rows), structuredContent=rows)
    assert "structuredContent" not in exchange(rewriter, call(1, tool="free"), result)
    listed = exchange(rewriter, request(2, "tools/list"), {"tools": [tool("free", outputSchema=ROWS)]})
    assert listed["tools"][0] == tool("free")


def test_a_copy_of_the_text_is_left_out_first(server: BudgetedServer) -> None:
    text = "some words of it " * 200
    result = text_result(text, structuredContent={"content": text})
    assert exchange(BudgetRewriter(server), call(1), result) == text_result(text)


SCHEMAS: dict[str, dict[str, Any]] = {
    "strings": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
    "rows": ROWS,
    "nested": {
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/A"}, "b": {"anyOf": [{"$ref": "#/$defs/A"}, {"type": "null"}]}},
        "required": ["a"],
        "$defs": {
            "A": {
                "type": "object",
                "properties": {
                    "kind": {"enum": ["x", "y"]},
                    "items": {"type": "array", "items": {"type": "string"}},
                    "more": {"type": "object", "additionalProperties": {"type": "string"}},
                },
                "required": ["kind", "items"],
                "additionalProperties": False,
            }
        },
    },
}
TEXTS = st.text(st.characters(codec="utf-8"), max_size=40)
PARTS = st.fixed_dictionaries(
    {"kind": st.sampled_from(["x", "y"]), "items": st.lists(TEXTS, max_size=8).map(lambda items: items * 30)},
    optional={"more": st.dictionaries(TEXTS, TEXTS.map(lambda text: text * 40), max_size=6)},
)
INSTANCES = {
    "strings": st.fixed_dictionaries({"text": TEXTS.map(lambda text: text * 200)}),
    "rows": st.fixed_dictionaries(
        {"rows": st.lists(st.dictionaries(TEXTS, TEXTS.map(lambda text: text * 50), max_size=3), max_size=30)}
    ),
    "nested": st.fixed_dictionaries({"a": PARTS}, optional={"b": st.none() | PARTS}),
}


@settings(max_examples=20)
@given(st.data())
@pytest.mark.parametrize("name", list(SCHEMAS))
def test_shortened_structured_content_follows_its_schema(
    name: str, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    schema, budget = SCHEMAS[name], TokenBudget(1_000)
    assert allows_shorter(schema)
    value = data.draw(INSTANCES[name])
    result = text_result(json.dumps(value), structuredContent=value)
    shortener = Shortener(budget, KeptAnswers(tmp_path_factory.getbasetemp() / "kept"), "keyhole_more")
    if shortener.is_small(result):
        return
    short = shortener.shortened(result, schema)
    assert validator_for(schema)(schema).is_valid(short["structuredContent"])
    assert budget.fits(short["content"], short["structuredContent"])


@pytest.mark.parametrize(
    "schema",
    [
        None,
        {"type": "array"},
        STRICT,
        {"type": "object", "properties": {"a": {"type": "array", "minItems": 3}}, "required": ["a"]},
        {"type": "object", "properties": {"a": {"type": "string", "pattern": "^a+$"}}, "required": ["a"]},
        {"type": "object", "properties": {"a": {"type": "string", "minLength": 9}}, "required": ["a"]},
        {"type": "object", "oneOf": [{"required": ["a"]}, {"required": ["b"]}]},
        {"type": "object", "minProperties": 3},
        {"type": "object", "additionalProperties": {"type": "integer"}},
        {"type": "object", "properties": {"a": {"$ref": "https://example.com/a.json"}}, "required": ["a"]},
        {"type": "object", "properties": {"a": {"$ref": "#"}}, "required": ["a"]},
        {"type": "object", "properties": {NOTE: {"type": "integer"}}},
    ],
)
def test_schemas_that_are_not_understood_allow_nothing(schema: object) -> None:
    assert not allows_shorter(schema)


def test_an_answer_that_breaks_its_own_schema_is_not_shortened(tmp_path: Path) -> None:
    value = {"rows": "x " * 5_000}
    shortener = Shortener(TokenBudget(1_000), KeptAnswers(tmp_path), "keyhole_more")
    with pytest.raises(CannotShortenError):
        shortener.shortened(text_result("short", structuredContent=value), ROWS)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("999", "must be 1,000 tokens or more"),
        ("cursor", "limit of Cursor is not known"),
        ("claud", "Did you mean claude"),
    ],
)
def test_wrong_budgets_are_explained(text: str, says: str) -> None:
    assert not is_certain_budget(text)
    assert run_if_plain(["--budget", text, "--", "true"]) is None
    with pytest.raises(QueryError, match=says):
        answer_budget(text)


@pytest.mark.parametrize("text", ["1000", "claude", "codex", "vscode"])
def test_budgets_that_clients_start_with_need_no_slow_imports(text: str) -> None:
    code = (
        "import sys; from keyhole.core.wrap.run_wrap import run_if_plain; "
        f"assert run_if_plain(['--budget', {text!r}, '--', 'true']) == 0; "
        "slow = {'pydantic', 'click', 'fastmcp', 'jsonschema', 'tomllib', 'apsw', 're2'} & set(sys.modules); "
        "assert not slow, slow"
    )
    subprocess.run([sys.executable, "-c", code], check=True, env=os.environ)
    answer_budget(text)


def test_a_real_wrap_shortens_pages_and_ends_like_its_server(tmp_path: Path) -> None:
    wrapped = Wrapped(tmp_path)
    sent = lines(request(1, "tools/list", cursor="1"), call(2, text=LONG), request(3, "un/known"))
    done = wrapped.run(SERVER, sent, "--budget", "1500")
    answers = {message["id"]: message for message in map(json.loads, done.stdout.splitlines())}
    assert done.returncode == 7
    assert names(answers[1]["result"]) == ["write", "keyhole_more"]
    assert answers[3]["error"]["code"] == -32601
    arguments = next_call(answers[2]["result"])
    assert arguments
    again = wrapped.run(SERVER, lines(call(4, tool="keyhole_more", **arguments)), "--budget", "1500")
    page = json.loads(again.stdout.splitlines()[0])["result"]
    assert page["content"][0]["text"] in LONG
    assert (wrapped.folder / "answers").is_dir()
    statuses = {recorded.tool: recorded.status for recorded in wrapped.calls()}
    assert (statuses["look"], statuses["keyhole_more"]) == ("shortened", "partial")
