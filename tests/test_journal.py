"""The journal: exact, limited in size, shared by many processes, and never delaying an answer."""

import json
import shutil
import signal
import stat
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import apsw
import pytest
from canaries import text_of
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from keyhole.core.cli.main import cli
from keyhole.core.errors import StoreError
from keyhole.core.index.location import JOURNAL_FILE
from keyhole.core.journal.file import delete, open_for_writing
from keyhole.core.journal.reader import Changes, JournalReader, Mark, _selection, is_lost
from keyhole.core.journal.writer import LONGEST_ARGUMENTS, Ended, Journal, Started
from keyhole.core.service import Service
from keyhole.core.types.calls import Call, ShownLines
from keyhole.core.types.completeness import CallStatus
from keyhole.core.view.call_filter import CallFilter

DAY = 86_400


def journal_in(folder: Path, max_bytes: int = 50_000_000, max_seconds: float = 30 * DAY) -> Journal:
    return Journal(folder, max_bytes=max_bytes, max_seconds=max_seconds)


def started(tool: str = "search_code", at: float | None = None, client: str = "agent", **arguments: object) -> Started:
    return Started("stdio", client, "1", tool, arguments, time.time() if at is None else at)


def ended(response: str = "answer\n", status: CallStatus = CallStatus.COMPLETE, ms: float = 5.0) -> Ended:
    return Ended(status, response, ms, tokens=3, budget=1_000, utilisation=0.1)


def write_calls(journal: Journal, count: int, response: str = "answer\n", at: float | None = None) -> None:
    for number in range(count):
        call = started(at=at, number=number)
        journal.started(call)
        journal.ended(call, ended(response))
        # The queue is limited, but a test needs every call.
        if number % 50 == 0:
            assert journal.flush()
    assert journal.flush()


def all_calls(folder: Path) -> list[Call]:
    return list(JournalReader(folder).each())


# Readers


def follow(reader: JournalReader, calls: dict[int, Call], mark: Mark | None) -> Mark:
    """Poll as the explorer does."""
    while True:
        changes = reader.poll(mark)
        if changes.is_reset:
            calls.clear()
        calls.update((call.id, call) for call in changes.calls)
        mark = changes.mark
        if not changes.has_more:
            return mark


@given(st.lists(st.sampled_from(["start", "end", "poll", "clear"]), max_size=30))
def test_who_follows_knows_every_call(tmp_path_factory: pytest.TempPathFactory, steps: list[str]) -> None:
    folder = tmp_path_factory.mktemp("followed")
    journal, reader = journal_in(folder), JournalReader(folder)
    calls: dict[int, Call] = {}
    mark: Mark | None = None
    running: list[Started] = []
    for step in steps:
        if step == "start":
            running.append(started())
            journal.started(running[-1])
        elif step == "end" and running:
            journal.ended(running.pop(0), ended())
        elif step == "clear":
            assert journal.flush()
            delete(folder)
        else:
            assert journal.flush()
            mark = follow(reader, calls, mark)
    assert journal.flush()
    mark = follow(reader, calls, mark)
    assert calls == {call.id: call for call in all_calls(folder)}
    assert reader.poll(mark) == Changes((), mark)


def test_a_mark_gives_the_same_changes_every_time(tmp_path: Path) -> None:
    journal, reader = journal_in(tmp_path), JournalReader(tmp_path)
    write_calls(journal, 1)
    first = reader.poll().mark
    write_calls(journal, 1)
    assert len(reader.poll(first).calls) == 1
    assert len(reader.poll(first).calls) == 1


def test_a_long_journal_is_followed_from_its_newest_calls(tmp_path: Path) -> None:
    journal, reader = journal_in(tmp_path), JournalReader(tmp_path)
    write_calls(journal, 1_200)
    changes = reader.poll()
    assert (len(changes.calls), changes.is_reset, changes.has_more) == (999, True, False)
    assert changes.calls[-1].id == 1_200
    older = reader.calls(before=changes.calls[0].id, limit=50)
    assert [call.id for call in older] == list(range(201, 151, -1))


def test_before_there_is_a_journal_everything_is_empty(tmp_path: Path) -> None:
    reader = JournalReader(tmp_path / "none")
    assert reader.poll() == Changes((), Mark(), is_reset=True)
    assert (reader.calls(), reader.whole(1), list(reader.each())) == ([], None, [])
    write_calls(journal_in(tmp_path / "none"), 1)
    assert len(reader.poll(Mark()).calls) == 1


def test_tokens_in_arguments_are_not_recorded(tmp_path: Path) -> None:
    token = "ghp_" + text_of(36)
    arguments = {
        "query": f"foo\n{token}",
        "paths": [f"a\t{token}", {f"é{token}": (f"\udcff{token}", 1, None)}],
        f"\r{token}": Path(f"/tmp/{token}"),
    }
    journal = journal_in(tmp_path)
    journal.started(replace(started(), arguments=arguments))
    assert journal.flush()
    (call,) = all_calls(tmp_path)
    mask = "[secret: github-token]"
    assert json.loads(call.arguments) == {
        "query": f"foo\n{mask}",
        "paths": [f"a\t{mask}", {f"é{mask}": [f"\udcff{mask}", 1, None]}],
        f"\r{mask}": f"/tmp/{mask}",
    }
    assert not [file for file in tmp_path.rglob("*") if file.is_file() and token.encode() in file.read_bytes()]


def test_filters(tmp_path: Path) -> None:
    journal = journal_in(tmp_path)
    for tool, client, status in [
        ("read_file", "claude", CallStatus.COMPLETE),
        ("search_code", "claude", CallStatus.ERROR),
        ("search_code", "codex", CallStatus.COMPLETE),
    ]:
        call = started(tool, client=client, query="Größe")
        journal.started(call)
        journal.ended(call, ended(status=status))
    assert journal.flush()
    reader = JournalReader(tmp_path)
    assert [call.id for call in reader.calls(CallFilter(tool="search_code").admits)] == [3, 2]
    assert [call.id for call in reader.calls(CallFilter(client="claude", status=CallStatus.COMPLETE).admits)] == [1]
    assert [call.id for call in reader.calls(CallFilter(text="größe CODE").admits)] == [3, 2]
    assert [call.id for call in reader.calls(CallFilter(text="größe gone").admits)] == []
    assert [call.id for call in reader.calls(CallFilter(text="GRÖSSE"[:3]).admits)] == [3, 2, 1]
    assert [call.id for call in reader.calls(CallFilter(text="codex").admits)] == [3]
    assert [call.id for call in reader.calls(limit=2)] == [3, 2]


# Older journals

OLD = Path(__file__).parent / "fixtures/journal-v1.db"


@pytest.mark.parametrize("by", ["reader", "writer"])
def test_a_journal_of_version_1_is_read_and_continued(tmp_path: Path, by: str) -> None:
    shutil.copy(OLD, tmp_path / JOURNAL_FILE)
    if by == "writer":
        journal = journal_in(tmp_path, max_seconds=3_650 * DAY)
        call = started("map_file")
        journal.started(replace(call, session="abc"))
        assert journal.flush()
    search, failed, *new = all_calls(tmp_path)
    assert (search.session, search.shown, search.problem) == ("", "", "")
    assert (failed.status, failed.problem) == ("error", "no such file: gone.py")
    assert [call.session for call in new] == (["abc"] if by == "writer" else [])


def test_a_journal_of_version_1_that_cannot_be_written_is_read_as_it_is(tmp_path: Path) -> None:
    shutil.copy(OLD, tmp_path / JOURNAL_FILE)
    reader = JournalReader(tmp_path)
    reader._db = apsw.Connection(str(tmp_path / JOURNAL_FILE), flags=apsw.SQLITE_OPEN_READONLY)
    reader._select = _selection(1)
    assert [call.tool for call in reader._calls(reader._db, "ORDER BY id")] == ["search_code", "read_file"]


def test_sessions_and_shown_files_are_recorded_with_tokens_masked(tmp_path: Path) -> None:
    token = "ghp_" + text_of(36)
    journal, call = journal_in(tmp_path), replace(started(), session="abc")
    journal.started(call)
    journal.ended(call, replace(ended(), shown=[ShownLines("a.py", 1, 9, "v"), ShownLines(f"{token}.py")]))
    assert journal.flush()
    (found,) = all_calls(tmp_path)
    assert found.session == "abc"
    assert found.shown_lines == [ShownLines("a.py", 1, 9, "v"), ShownLines("[secret: github-token].py")]


# Many writers

WRITER = """
import sys, time
from pathlib import Path
from keyhole.core.journal.writer import Ended, Journal, Started
from keyhole.core.types.completeness import CallStatus
journal = Journal(Path(sys.argv[1]), max_bytes=50_000_000, max_seconds=1e6)
for number in range(int(sys.argv[2])):
    call = Started("stdio", sys.argv[3], "1", "search_code", {"number": number})
    journal.started(call)
    journal.ended(call, Ended(CallStatus.COMPLETE, f"{sys.argv[3]} {number}\\n" * 200, 1.0))
    if number % 20 == 0:
        assert journal.flush()
assert journal.flush()
if sys.argv[3] == "killed":
    journal.started(Started("stdio", "killed", "1", "map_file", {}))
    assert journal.flush()
    print("ready", flush=True)
    time.sleep(60)
"""


def write_in_a_process(folder: Path, count: int, client: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", WRITER, str(folder), str(count), client]
    return subprocess.Popen(command, stdout=subprocess.PIPE)


def test_many_processes_write_one_journal_while_it_is_followed(tmp_path: Path) -> None:
    writers = [write_in_a_process(tmp_path, 150, f"agent-{number}") for number in range(4)]
    reader = JournalReader(tmp_path)
    calls: dict[int, Call] = {}
    mark: Mark | None = None
    while any(writer.poll() is None for writer in writers):
        mark = follow(reader, calls, mark)
        time.sleep(0.005)
    follow(reader, calls, mark)
    assert [writer.wait() for writer in writers] == [0] * 4
    [writer.stdout.close() for writer in writers if writer.stdout]
    assert sorted((call.client, call.parameters["number"]) for call in calls.values()) == sorted(
        (f"agent-{writer}", number) for writer in range(4) for number in range(150)
    )
    assert {call.status for call in calls.values()} == {"complete"}
    assert len({call.change for call in calls.values()}) == 600
    for call in list(calls.values())[::97]:
        whole = reader.whole(call.id)
        assert whole is not None
        assert whole.response == f"{call.client} {whole.arguments['number']}\n" * 200


def test_a_killed_process_leaves_a_pending_call(tmp_path: Path) -> None:
    process = write_in_a_process(tmp_path, 0, "killed")
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    (call,) = all_calls(tmp_path)
    assert (call.status, is_lost(call)) == ("pending", False)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=20)
    (call,) = all_calls(tmp_path)
    assert (call.status, is_lost(call)) == ("pending", True)


def test_a_call_that_is_pending_for_long_is_lost(tmp_path: Path) -> None:
    journal = journal_in(tmp_path)
    journal.started(started(at=time.time() - 3_600))
    assert journal.flush()
    assert is_lost(all_calls(tmp_path)[0])


# Limits


def test_the_size_is_bounded_and_the_oldest_go_first(tmp_path: Path) -> None:
    write_calls(journal_in(tmp_path, max_bytes=1_000_000), 500, response="x" * 20_000)
    calls = all_calls(tmp_path)
    assert 10 < len(calls) < 150
    assert [call.id for call in calls] == list(range(501 - len(calls), 501))
    # Between two size checks, and in the log file, it may be a little larger.
    assert sum(path.stat().st_size for path in tmp_path.glob("journal.db*")) < 9_000_000
    db = apsw.Connection(str(tmp_path / JOURNAL_FILE))
    assert db.execute("SELECT count(*) FROM answer").get == len(calls)


def test_old_calls_are_deleted(tmp_path: Path) -> None:
    write_calls(journal_in(tmp_path, max_seconds=50 * DAY), 3, at=time.time() - 40 * DAY)
    write_calls(journal_in(tmp_path), 1)
    assert [call.id for call in all_calls(tmp_path)] == [4]


def test_a_call_that_was_deleted_while_it_ran_is_written_whole(tmp_path: Path) -> None:
    journal, call = journal_in(tmp_path), started(at=time.time() - 40 * DAY)
    journal.started(call)
    assert journal.flush()
    assert all_calls(tmp_path) == []
    journal.ended(call, ended())
    assert journal.flush()
    assert [call.status for call in all_calls(tmp_path)] == ["complete"]


def test_arguments_without_end_are_not_kept(tmp_path: Path) -> None:
    journal, call = journal_in(tmp_path), started(query="x" * LONGEST_ARGUMENTS)
    journal.started(call)
    assert journal.flush()
    (kept,) = all_calls(tmp_path)
    assert (kept.arguments, kept.parameters) == ("", {})


def test_any_text_is_kept_exactly(tmp_path: Path) -> None:
    journal, call = journal_in(tmp_path), started(query="\ud800 \0 文字")
    response = "\0\r\n\x1b[0m 文字 🙂 \ud800"
    journal.started(call)
    journal.ended(call, ended(response))
    assert journal.flush()
    whole = JournalReader(tmp_path).whole(1)
    assert whole is not None
    assert (whole.response, whole.arguments) == (response, {"query": "\ud800 \0 文字"})


def test_rows_of_an_older_journal_have_the_words_of_today(tmp_path: Path) -> None:
    lines = {"detail_requested": "lines", "detail_applied": "lines"}
    some = {
        "original_count": 20,
        "returned_count": 20,
        "detail_requested": "rich",
        "detail_applied": "rich",
        "next": "",
    }
    old = [
        ("ok", "", None, CallStatus.COMPLETE),
        ("ok", "", some | {"reason": None}, CallStatus.COMPLETE),
        ("ok", "", some | {"reason": None, "next": "offset=20"}, CallStatus.MORE_PAGES),
        ("ok", "", some | lines | {"reason": None, "next": "start_line=501"}, CallStatus.PARTIAL),
        ("truncated", "token_limit", some | {"reason": "token_limit"}, CallStatus.SHORTENED),
        ("truncated", "token_limit", some | {"reason": "token_limit", "returned_count": 3}, CallStatus.LEFT_OUT),
        ("truncated", "x", some | lines | {"reason": "x", "detail_applied": "columns"}, CallStatus.CLIPPED),
        ("truncated", "token_limit", None, CallStatus.LEFT_OUT),
        ("error", "cancelled", None, CallStatus.CANCELLED),
        ("error", "", None, CallStatus.ERROR),
    ]
    journal = journal_in(tmp_path)
    for _, note, facts, _ in old:
        call = started()
        journal.started(call)
        journal.ended(call, Ended(CallStatus.COMPLETE, "x\n", 1.0, note=note, truncation=facts))
    assert journal.flush()
    db = open_for_writing(tmp_path, busy_ms=1_000)
    db.executemany("UPDATE call SET status = ? WHERE id = ?", [(row[0], number) for number, row in enumerate(old, 1)])
    db.close()
    assert [call.status for call in all_calls(tmp_path)] == [row[3] for row in old]


# A failure loses the record, never the answer


def test_only_the_owner_can_read_it(tmp_path: Path) -> None:
    write_calls(journal_in(tmp_path), 1)
    for path in tmp_path.glob("journal.db*"):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_full_disk_loses_only_the_record(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    journal = journal_in(tmp_path)
    write_calls(journal, 1)
    assert journal._db is not None
    journal._db.pragma("max_page_count", 1)
    write_calls(journal, 1, response="x" * 1_000_000)
    assert "calls are not recorded: database or disk is full" in caplog.text
    write_calls(journal, 1)
    # If the start of the call without room was written before its answer came, it stays there as pending.
    statuses = [call.status for call in all_calls(tmp_path)]
    assert [status for status in statuses if status != CallStatus.PENDING] == ["complete", "complete"]


def test_a_folder_that_cannot_be_created_loses_only_the_record(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    write_calls(journal_in(tmp_path / "file"), 3)


def test_a_writer_that_cannot_keep_up_drops_calls(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    journal = journal_in(tmp_path)
    write_calls(journal, 1)
    db = apsw.Connection(str(tmp_path / JOURNAL_FILE))
    db.execute("BEGIN IMMEDIATE")
    for _ in range(1_000):
        journal.started(started())
    db.execute("ROLLBACK")
    assert journal.flush()
    assert "too many calls are waiting to be written" in caplog.text
    assert 1 < len(all_calls(tmp_path)) < 1_000


@pytest.mark.parametrize("damage", [b"not a database" * 1_000, b"SQLite format 3\0" + b"\xff" * 8_000])
def test_a_damaged_journal_is_replaced(tmp_path: Path, damage: bytes, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / JOURNAL_FILE).write_bytes(damage)
    with pytest.raises(StoreError, match=r"cannot read|is not a keyhole journal"):
        JournalReader(tmp_path).poll()
    write_calls(journal_in(tmp_path), 2)
    assert len(all_calls(tmp_path)) == 2
    assert "started a new one" in caplog.text


def test_a_journal_of_a_newer_keyhole_is_left_alone(tmp_path: Path) -> None:
    write_calls(journal_in(tmp_path), 1)
    db = apsw.Connection(str(tmp_path / JOURNAL_FILE))
    db.pragma("user_version", 99)
    write_calls(journal_in(tmp_path), 1)
    assert db.execute("SELECT count(*) FROM call").get == 1
    with pytest.raises(StoreError, match="newer version of keyhole"):
        JournalReader(tmp_path).poll()


def test_clear_deletes_the_journal_and_open_writers_continue(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEYHOLE_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "work").mkdir()
    service = Service.open(tmp_path / "work")
    journal, reader = service.journal(), service.journal_reader()
    assert journal is not None
    running = started()
    journal.started(running)
    write_calls(journal, 2)
    mark = reader.poll().mark
    assert CliRunner().invoke(cli, ["clear", str(tmp_path / "work")]).output.startswith("Deleted")
    assert reader.poll(mark) == Changes((), Mark(), is_reset=True)
    journal.ended(running, ended())
    assert journal.flush()
    changes = reader.poll(mark)
    assert changes.is_reset
    assert [call.status for call in changes.calls] == ["complete"]
    assert CliRunner().invoke(cli, ["clear", str(tmp_path / "work")]).output.startswith("Deleted")
    assert (
        CliRunner().invoke(cli, ["clear", str(tmp_path / "work")]).output
        == "Nothing to delete: no index and no journal.\n"
    )
    assert json.loads(changes.calls[0].arguments) == {}
