"""Records of wrapped servers' answers: how they are found, filtered and reduced to fields, and how long they stay."""

import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest
from rebuilt_answers import Result, note_of

from keyhole.core.wrap.shortening.answer_budget import TokenBudget
from keyhole.core.wrap.shortening.documents import AnswerDocument
from keyhole.core.wrap.shortening.kept_answers import KeptAnswers
from keyhole.core.wrap.shortening.layouts import Layout
from keyhole.core.wrap.shortening.more_tool import answer_more
from keyhole.core.wrap.shortening.text_layouts import layout_of

MARKDOWN = "| id | name |\n|---|---|\n" + "".join(f"| {n} | user {n} |\n" for n in range(5))
CSV = 'id,name\n1,ann\n2,"two\nlines"\n3,bob\n4,eve\n'
ALIGNED = "NAME       STATUS   AGE\nweb-1      Running  3d\nweb-two    Failed   12h\ndb         Running  9d\n"
JSON_LINES = '{"id": 1}\n{"id": 2}\n{"id": 3}\n'
PEOPLE = [{"id": n, "name": f"user {n}", "home": {"city": "Bern" if n % 2 else "Köln", "zip": n}} for n in range(6)]


def records(layout: Layout) -> list[str]:
    return [layout.record(number) for number in range(layout.count)]


@pytest.mark.parametrize(
    ("text", "unit", "expected"),
    [
        ('[1, {"a": 2}, "x"]', "records", ["1", ' {"a": 2}', ' "x"']),
        ('{"items": [1, 2], "total": 2}', "keys", ['"items": [1, 2]', ' "total": 2']),
        ('{"items": ["aaaaaaaaaa", "bbbbbbbbbb"], "total": 2}', "records", ['"aaaaaaaaaa"', ' "bbbbbbbbbb"']),
        ('Found 2:\n["aaaaaaaaaa", "b"]', "records", ['"aaaaaaaaaa"', ' "b"']),
        ('{"path": "a", "text": "one\\ntwo\\nthree \\\\n four"}', "lines", ["one\\n", "two\\n", "three \\\\n four"]),
        (JSON_LINES, "records", ['{"id": 1}\n', '{"id": 2}\n', '{"id": 3}\n']),
        (MARKDOWN, "rows", [f"| {n} | user {n} |\n" for n in range(5)]),
        (CSV, "rows", ["1,ann\n", '2,"two\nlines"\n', "3,bob\n", "4,eve\n"]),
        (ALIGNED, "rows", ALIGNED.splitlines(keepends=True)[1:]),
        ("one\ntwo\n\nthree", "lines", ["one\n", "two\n", "\n", "three"]),
        (
            "Hello, you\nDear, me\nYes, all\nNo, one\n",
            "lines",
            ["Hello, you\n", "Dear, me\n", "Yes, all\n", "No, one\n"],
        ),
        ('{"a": 1} and more', "lines", ['{"a": 1} and more']),
        ("[NaN]", "lines", ["[NaN]"]),
    ],
)
def test_records_are_what_a_reader_would_call_them(text: str, unit: str, expected: list[str]) -> None:
    layout = layout_of(text)
    assert (layout.unit, records(layout)) == (unit, expected)


@pytest.mark.parametrize(
    ("text", "page"),
    [
        (MARKDOWN, "| id | name |\n|---|---|\n| 3 | user 3 |\n"),
        (CSV, "id,name\n4,eve\n"),
        (
            ALIGNED.replace("db ", "d  ") + "x          Done     1s\n",
            "NAME       STATUS   AGE\nx          Done     1s\n",
        ),
        ("Users:\n\n" + MARKDOWN + "\nThe end.\n", "| id | name |\n|---|---|\n| 0 | user 0 |\n"),
        ('{"items": ["aaaaaaaaaa", "b", "c", "d"], "n": 4}', '{"items": [ "d"], "n": 4}'),
    ],
)
def test_a_page_in_the_middle_keeps_its_header_or_wrapper(text: str, page: str) -> None:
    layout = layout_of(text)
    number = 4 if text.startswith("Users") else 3
    assert layout.run(number, number + 1).shown(text) == page


def test_a_page_rather_ends_with_a_paragraph() -> None:
    text = "".join(f"{'word ' * 30}\n{'more ' * 30}\n\n" for _ in range(40))
    document = AnswerDocument.of([{"type": "text", "text": text}], [0])
    page = document.page(0, 0, lambda page: len(page.blocks[0]["text"]) < 1_000)
    assert page.last == 9
    assert page.blocks[0]["text"].endswith("\n\n")


@pytest.fixture
def kept(tmp_path: Path) -> KeptAnswers:
    return KeptAnswers(tmp_path / "answers")


def keep(kept: KeptAnswers, text: str) -> str:
    return kept.keep([{"type": "text", "text": text}], [0])


def more(kept: KeptAnswers, handle: str, **arguments: Any) -> Result:
    return answer_more({"handle": handle, **arguments}, kept, TokenBudget(1_000), "keyhole_more")


def first_text(result: Result) -> str:
    return str(result["content"][0]["text"])


@pytest.mark.parametrize(
    ("text", "arguments", "shown"),
    [
        (json.dumps(PEOPLE), {"query": "KÖLN user 4"}, [PEOPLE[4]]),
        (json.dumps(PEOPLE), {"query": '/"id": [01],/'}, PEOPLE[:2]),
        (json.dumps(PEOPLE), {"query": "user 5", "fields": ["id", "home.city"]}, [{"id": 5, "home": {"city": "Bern"}}]),
        (json.dumps({"items": PEOPLE, "n": 6}), {"query": "user 3"}, {"items": [PEOPLE[3]], "n": 6}),
        (json.dumps({"one": PEOPLE[0], "two": PEOPLE[1]}), {"fields": "id"}, {"one": {"id": 0}, "two": {"id": 1}}),
        (json.dumps({"one": [1] * 9, "two": [2] * 9, "n": 1}), {"fields": ["two"]}, {"two": [2] * 9}),
    ],
)
def test_json_is_filtered_and_keeps_its_shape(
    kept: KeptAnswers, text: str, arguments: dict[str, Any], shown: object
) -> None:
    assert json.loads(first_text(more(kept, keep(kept, text), **arguments))) == shown


@pytest.mark.parametrize(
    ("text", "arguments", "shown"),
    [
        (MARKDOWN, {"query": "user 3"}, "| id | name |\n|---|---|\n| 3 | user 3 |\n"),
        (MARKDOWN, {"query": "user 3", "fields": ["name"]}, "| name |\n| --- |\n| user 3 |\n"),
        (CSV, {"query": "/two|bob/", "fields": ["name"]}, 'name\n"two\nlines"\nbob\n'),
        (ALIGNED, {"query": "running", "fields": ["NAME", "AGE"]}, "NAME       AGE\nweb-1      3d\ndb         9d\n"),
        (JSON_LINES, {"query": "/[23]/"}, '{"id": 2}\n{"id": 3}\n'),
        ("one\ntwo\nthree\n", {"query": "/^t/"}, "2: two\n3: three\n"),
        ('{"path": "a", "text": "one\\ntwo \\"x\\"\\nthree, the last"}', {"query": '"x"'}, '2: two "x"\n'),
    ],
)
def test_tables_and_lines_are_filtered(kept: KeptAnswers, text: str, arguments: dict[str, Any], shown: str) -> None:
    assert first_text(more(kept, keep(kept, text), **arguments)) == shown


def test_pages_of_a_filtered_answer_are_counted_and_go_on(kept: KeptAnswers) -> None:
    handle = keep(kept, json.dumps([{"id": n, "text": f"{'even' if n % 2 else 'odd'} " * 20} for n in range(200)]))
    page = more(kept, handle, query="even", fields=["id", "text"])
    assert "of 100 that match, among 200" in note_of(page)
    assert 'query="even", fields=["id", "text"]' in note_of(page)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"fields": ["nme"]}, "unknown field 'nme'; this answer has: id, name, home"),
        ({"query": "/(/"}, "invalid regular expression"),
        ({"offset": -1}, "offset must be a whole number"),
        ({"offset": "x"}, "offset must be a whole number"),
        ({"fields": 3}, "fields must be a list"),
        ({"query": ["x"]}, "query must be a string"),
    ],
)
def test_wrong_arguments_are_explained(kept: KeptAnswers, arguments: dict[str, Any], says: str) -> None:
    result = more(kept, keep(kept, json.dumps(PEOPLE)), **arguments)
    assert result["isError"]
    assert says in first_text(result)


def test_no_match_and_the_end_are_answers(kept: KeptAnswers) -> None:
    handle = keep(kept, json.dumps(PEOPLE))
    assert first_text(more(kept, handle, query="nobody")) == "[None of the 6 records match.]"
    assert first_text(more(kept, handle, offset=99)) == "[This is past the end: there are 6 records.]"


@pytest.mark.parametrize("handle", ["", "../secret", "0123456789", "a" * 5_000, "00000\n0000"])
def test_an_unknown_handle_is_an_error(kept: KeptAnswers, handle: str) -> None:
    (kept._folder.parent / "secret.answer.json").write_text('{"blocks": [], "numbers": []}')
    result = more(kept, handle)
    assert result["isError"]
    assert "call the server's tool again" in first_text(result)


def test_kept_answers_are_private_and_bounded_by_age_and_size(tmp_path: Path) -> None:
    now = [1_000_000.0]
    kept = KeptAnswers(tmp_path / "answers", max_bytes=1_000, max_seconds=60, clock=lambda: now[0])

    def keep_at(text: str, at: float) -> str:
        now[0] = at
        handle = keep(kept, text)
        os.utime(kept._path(handle), (at, at))
        return handle

    old = keep_at("old", 1_000_000)
    assert stat.S_IMODE((tmp_path / "answers").stat().st_mode) == 0o700
    assert [stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "answers").iterdir()] == [0o600]
    large = keep_at("x" * 500, 1_000_030)
    now[0] = 1_000_061
    assert kept.find(old) is None
    newer = keep_at("y" * 500, 1_000_062)
    assert [path.name[:10] for path in (tmp_path / "answers").iterdir()] == [newer]
    assert kept.find(large) is None
    with pytest.raises(OSError, match="at most 1,000 are kept"):
        keep(kept, "z" * 2_000)


def test_a_damaged_kept_answer_is_no_answer(kept: KeptAnswers) -> None:
    handle = keep(kept, "text")
    for content in ("", "[]", '{"blocks": 3}', '{"blocks": [1], "numbers": [1, 2]}'):
        kept._path(handle).write_text(content)
        assert KeptAnswers(kept._folder).find(handle) is None
