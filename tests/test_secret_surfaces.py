"""No surface shows a secret: one workspace with every kind of secret, every tool, resource and command, and the files
that Keyhole writes."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest
from canaries import CANARIES, ENCODED_KEY, key_block, text_of
from discovery import put, settle
from fastmcp import Client
from mcp.shared.exceptions import MCPError
from test_masking import as_written
from test_secret_paths import SECRET_PATHS

from keyhole.core.cli.main import run_command
from keyhole.core.config import load_settings
from keyhole.core.errors import KeyholeError
from keyhole.core.files.read import read_source
from keyhole.core.index.location import INDEX_FILE
from keyhole.core.links.requests import TreeRequest
from keyhole.core.service import Service
from keyhole.core.types.bundle import Bundle, BundleItem
from keyhole.core.types.choices import Detail, Format, MapLevel, Mode
from keyhole.core.types.source_files import SecretPolicy, SourceFile
from keyhole.core.types.view_requests import MapRequest, Query, ReadRequest, SearchRequest
from keyhole.core.view.budget.sizes import measure
from keyhole.core.view.bundles.bundle_file import bundle_toml
from keyhole.mcp_server.server import build_server
from keyhole.mcp_server.tool_texts import TOOLS
from keyhole.tui import sources
from keyhole.tui.sources import read_map, read_outline

pytestmark = pytest.mark.anyio

OLD_INDEX = Path(__file__).parent / "fixtures" / "index-v7.db"

NAME_TOKEN = "ghp_" + text_of(36)
IN_SECRET_FILES = text_of(30)
REQUEST_TOKEN = "ghp_" + text_of(36)
HIDDEN = [
    *(secret for _, _, secret in CANARIES),
    *(line[:24] for line in key_block().splitlines()[1:-2]),
    ENCODED_KEY[200:240],
    NAME_TOKEN,
    IN_SECRET_FILES,
    REQUEST_TOKEN,
]
MASKED_FILES = [
    "src/tokens.py",
    "conf/tokens.yaml",
    "docs/tokens.md",
    "src/tokens.ts",
    "keys/large.txt",
    "keys/wide.txt",
]


# Every file with secrets, and a path that is a token itself.
BUNDLE = Bundle(tuple(BundleItem(path) for path in (*MASKED_FILES, *SECRET_PATHS, REQUEST_TOKEN)))


def write_secrets(root: Path) -> None:
    """Put every canary where a surface could show it: names, signatures, docs, keys, headings, links and imports."""
    written = [as_written(kind, token) for kind, token, _ in CANARIES]
    python = [
        f'import harbour_{number}\nDOCK_{number} = "{text}"\n\n\ndef moor_{number}(token: str = "{text}") -> str:\n'
        f'    """Moor with {text} at the pier."""\n    return "{text}"\n\n'
        for number, text in enumerate(written)
    ]
    put(root, "src/tokens.py", "\n".join(python))
    put(root, "conf/tokens.yaml", "".join(f"pier_{n}: {text}\n{text}: pier\n" for n, text in enumerate(written)))
    links = [f"# Pier {text}\n\n[pier](https://example.org/{text}) [gone](gone-{text}.md)\n" for text in written]
    put(root, "docs/tokens.md", "\n".join(links))
    imports = [f'import pier{number} from "./{text}/pier";\n' for number, text in enumerate(written)]
    put(root, "src/tokens.ts", "".join(imports) + "export const harbour = 1;\n")
    put(root, "keys/large.txt", f"pier\n{key_block()}{ENCODED_KEY}\n" + "text of the pier\n" * 500)
    put(root, "keys/wide.txt", ("pier\n" + "\n".join(written)).encode("utf-16"))
    put(root, "keys/small.txt", f"pier\n{key_block()}")
    put(root, f"names/{NAME_TOKEN}.py", "pier = 1\n")
    put(root, f"{NAME_TOKEN}/inner.py", "pier = 1\n")
    put(root, ".gitignore", f"*.{NAME_TOKEN}\n")
    put(root, f"ignored.{NAME_TOKEN}", "pier = 1\n")
    (root / "link.py").symlink_to(root / f"names/{NAME_TOKEN}.py")
    for path in SECRET_PATHS:
        if not (root / path).exists():
            put(root, path, f"pier = {IN_SECRET_FILES}\n")


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("secrets")
    write_secrets(base / "root")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KEYHOLE_CACHE_DIR", str(base / "cache"))
        Service.open(base / "root").index()
    return base


@pytest.fixture
def service(base: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Service]:
    monkeypatch.setenv("KEYHOLE_CACHE_DIR", str(base / "cache"))
    service = Service.open(base / "root")
    yield service
    service.close()


def check_hidden(shown: str, what: object) -> None:
    found = [secret for secret in HIDDEN if secret.lower() in shown.lower()]
    assert not found, (what, found, shown[:400])


def check_files(folder: Path) -> None:
    for path in folder.rglob("*"):
        if path.is_file():
            content = path.read_bytes().lower()
            found = [secret for secret in HIDDEN if secret.lower().encode() in content]
            assert not found, (path.name, found)


def requests_of(path: str) -> Iterator[tuple[str, dict[str, Any]]]:
    yield "map_file", {"path": path}
    yield "map_file", {"path": path, "level": "full"}
    yield "map_file", {"path": path, "symbol": "moor_3"}
    yield "read_file", {"path": path}
    yield "read_file", {"path": path, "start_line": 3, "max_lines": 4}
    yield "read_file", {"paths": [path, "src/tokens.ts", "keys/small.txt"]}
    yield "get_links", {"path": path}
    yield "get_links", {"path": path, "category": "external"}
    yield "get_backlinks", {"path": path}
    yield "get_tree", {"path": path}
    yield "find_related", {"path": path, "detail_level": "rich"}
    yield "search_by_links", {"linked_from": path}


REQUESTS: list[tuple[str, dict[str, Any]]] = [
    *(request for path in MASKED_FILES[:3] for request in requests_of(path)),
    *(
        (tool, {"path": path})
        for tool in ("map_file", "read_file", "get_links", "get_tree")
        for path in MASKED_FILES[3:]
    ),
    *(("read_file", {"path": path}) for path in ("keys/small.txt", ".env", "link.py")),
    *(("search_code", {"query": "pier", "detail_level": level}) for level in ("minimal", "compact", "rich", "auto")),
    *(("search_code", {"query": query}) for query in ("moor_3", "/pier.*/", "DOCK_1", "secret", "/ghp_/")),
    *(("search_code", {"query": REQUEST_TOKEN, "mode": mode}) for mode in ("auto", "symbol", "keyword", "regex")),
    ("search_code", {"query": f"/({REQUEST_TOKEN}/"}),
    ("search_code", {"query": "pier", "path": REQUEST_TOKEN}),
    ("search_code", {"query": "pier", "cursor": REQUEST_TOKEN}),
    ("search_code", {"query": "pier", "mode": REQUEST_TOKEN}),
    ("search_code", {"query": "pier", REQUEST_TOKEN: 1}),
    (REQUEST_TOKEN, {}),
    ("map_file", {"path": REQUEST_TOKEN}),
    ("map_file", {"path": "src/tokens.py", "symbol": REQUEST_TOKEN}),
    ("read_file", {"path": f"names/{NAME_TOKEN}.py"}),
    ("read_file", {"paths": [REQUEST_TOKEN, "src/tokens.py"]}),
    ("get_links", {"path": REQUEST_TOKEN}),
    ("get_backlinks", {"path": REQUEST_TOKEN}),
    ("get_tree", {"path": REQUEST_TOKEN}),
    ("get_tree", {"relation": "descendants", "symbols": True, "limit": 500}),
    ("find_broken_links", {}),
    ("find_broken_links", {"path": REQUEST_TOKEN}),
    ("find_related", {"symbol": REQUEST_TOKEN}),
    ("find_related", {"symbol": "moor_3"}),
    ("search_by_links", {"broken": True}),
    ("search_by_links", {"external_domains": [REQUEST_TOKEN]}),
    ("index_status", {}),
]


async def test_no_tool_resource_or_record_shows_a_secret(service: Service) -> None:
    journal = service.journal()
    assert journal
    async with Client(build_server(service, journal=journal)) as client:
        for tool, arguments in REQUESTS:
            formats = ("text", "json") if tool in TOOLS else ("",)
            for form in formats:
                given = {**arguments, "format": form} if form else arguments
                result = await client.call_tool_mcp(tool, given)
                check_hidden("".join(getattr(block, "text", "") for block in result.content), (tool, given))
        for address in [*(f"keyhole://{kind}/{path}" for kind in ("file", "map") for path in MASKED_FILES)]:
            check_hidden((await client.read_resource(address))[0].text, address)
        check_hidden((await client.read_resource("keyhole://status"))[0].text, "status")
        service.bundle_file.write_text(bundle_toml(BUNDLE))
        check_hidden((await client.read_resource("keyhole://bundle"))[0].text, "bundle")
        service.bundle_file.unlink()
        for address in (f"keyhole://file/{REQUEST_TOKEN}", f"keyhole://{REQUEST_TOKEN}"):
            with pytest.raises(MCPError) as error:
                await client.read_resource(address)
            check_hidden(str(error.value), address)
        prompt = await client.get_prompt("explore", {"question": f"what is {REQUEST_TOKEN}?"})
        check_hidden(str(prompt.messages[0].content), "prompt")
    assert journal.flush()
    calls = list(service.journal_reader().each())
    assert len(calls) > len(REQUESTS)
    service.close()
    check_files(service.folder)


def test_no_command_shows_a_secret(service: Service, base: Path, capfd: pytest.CaptureFixture[str]) -> None:
    root = ["--root", str(service.root)]
    path = "src/tokens.py"
    commands = [
        ["index", str(service.root)],
        ["status", str(service.root), "--skipped"],
        ["status", str(service.root), "--skipped", "--json"],
        ["overview", str(service.root)],
        ["stats", str(service.root)],
        ["search", "pier", "--detail", "rich", *root],
        ["search", REQUEST_TOKEN, "--json", *root],
        ["search", "pier", "--mode", REQUEST_TOKEN, *root],
        ["search", "pier", f"--{REQUEST_TOKEN}", *root],
        ["explain", "moor_3", path, *root],
        ["explain", "moor_3", path, "--json", *root],
        ["explain", "pier", REQUEST_TOKEN, *root],
        ["map", path, *root],
        ["map", REQUEST_TOKEN, *root],
        ["read", path, *root],
        ["read", path, "--as", "codex", *root],
        ["links", "docs/tokens.md", *root],
        ["backlinks", path, *root],
        ["broken", *root],
        ["search-links", "--broken", *root],
        ["tree", "--relation", "descendants", "--symbols", *root],
        ["related", path, "--detail", "rich", *root],
        ["related", "--symbol", REQUEST_TOKEN, *root],
        [REQUEST_TOKEN],
        ["bundle", REQUEST_TOKEN, *root],
        *(
            ["bundle", str(base / "bundle.toml"), "--format", form, *root]
            for form in ("text", "xml", "markdown", "json")
        ),
    ]
    (base / "bundle.toml").write_text(bundle_toml(BUNDLE))
    for command in commands:
        run_command(command)
        shown = capfd.readouterr()
        assert shown.out + shown.err
        check_hidden(shown.out + shown.err, command)
    check_files(base / "cache")


def test_the_explorer_shows_no_secret(service: Service) -> None:
    for path in MASKED_FILES:
        check_hidden(sources.read_source(service, path).text, path)
        check_hidden(str(read_outline(service, path)), path)
        check_hidden(read_map(service, path, MapLevel.FULL, 20_000).text, path)
    inventory = service.inventory()
    check_hidden(str(inventory), "inventory")
    assert not {file.path for file in inventory.files} & set(SECRET_PATHS)


def test_no_search_tells_whether_a_secret_is_there(service: Service) -> None:
    """A search must not confirm a guess, not even of a part."""
    for kind, _, secret in CANARIES:
        for query in (Query(f"/{secret[:12]}/"), Query(secret, Mode.SYMBOL)):
            assert service.search(query).total == 0, kind


@pytest.mark.parametrize("form", list(Format))
def test_the_first_line_says_what_is_masked(service: Service, form: Format) -> None:
    def banner_and_facts(text: str) -> tuple[str, dict[str, Any]]:
        if form == Format.TEXT:
            return text.partition("\n")[0], {}
        answer = json.loads(text)
        return answer["banner"], answer["masked"]

    def check(text: str, sentence: str, count: int, first: dict[str, object]) -> None:
        banner, facts = banner_and_facts(text)
        assert banner.endswith(sentence), banner
        if facts:
            assert facts["count"] == count
            assert facts["places"][0] == first

    path = "src/tokens.py"
    place = {"file_path": path, "start_line": 2, "end_line": 2, "kind": "aws-access-key"}
    read = service.read_view(ReadRequest((path,), max_lines=6, format=form)).text
    check(read, " Masked 3 secrets: lines 2, 5, 6.", 3, place)
    one = service.read_view(ReadRequest((path,), max_lines=2, format=form)).text
    check(one, " Masked 1 secret: line 2.", 1, place)
    both = service.read_view(ReadRequest((path, "conf/tokens.yaml"), max_lines=2, format=form)).text
    check(both, f" Masked 3 secrets: {path}:2, conf/tokens.yaml:1, conf/tokens.yaml:2.", 3, place)
    symbol = service.map_view(MapRequest(path, symbol="moor_0", format=form)).text
    check(symbol, " Masked 2 secrets: lines 5, 6.", 2, place | {"start_line": 5, "end_line": 5})
    hit = SearchRequest("moor_0", mode=Mode.SYMBOL, limit=1, format=form)
    answer = service.search_view(hit).text
    check(answer, f" Masked 2 secrets: {path}:5, {path}:6.", 2, place | {"start_line": 5, "end_line": 5})
    clean = service.read_view(ReadRequest((path,), max_lines=1, format=form)).text
    assert "asked" not in clean.partition("import")[0]


def test_a_window_inside_a_masked_key_says_so(service: Service) -> None:
    last = len(key_block().splitlines()) + 1
    inside = service.read_view(ReadRequest(("keys/large.txt",), start_line=6, max_lines=2)).text
    assert inside.startswith("Lines 6-7 of")
    assert f" Masked 1 secret: lines 2-{last}.\n" in inside


def test_the_user_can_turn_masking_off_and_on(tmp_path: Path) -> None:
    """Everything follows the setting, and what was stored without masks is wiped from the files."""
    write_secrets(tmp_path / "root")
    token = next(token for kind, token, _ in CANARIES if kind == "github-token")

    def opened(*, masks: bool) -> Service:
        flags = {"cache_dir": tmp_path / "cache", "index.model": "none", "secrets.mask": masks}
        return Service(tmp_path / "root", load_settings(tmp_path / "root", flags))

    def finds(service: Service) -> bool:
        found = service.search(Query(f"/moor.*{token}/"))
        texts = [hit.passage.text for hit in found.hits if hit.passage]
        assert all("moor" in text for text in texts)
        return any(token in text for text in texts)

    def shows(service: Service) -> bool:
        hits = service.search_view(SearchRequest("moor_3", mode=Mode.SYMBOL)).text
        read = service.read_view(ReadRequest(("src/tokens.py",))).text
        assert "moor_3" in hits
        assert "moor_3" in read
        assert ("ghp_" in hits) == ("ghp_" in read) == ("Masked" not in read)
        return "ghp_" in hits

    plain = opened(masks=False)
    plain.index()
    assert finds(plain)
    assert shows(plain)
    plain.close()
    masking = opened(masks=True)
    # Even before the next run, no answer shows what the old index holds.
    assert not shows(masking)
    assert not finds(masking)
    masking.index()
    assert not shows(masking)
    masking.close()
    check_files(masking.folder)
    again = opened(masks=False)
    assert shows(again)
    again.index()
    assert finds(again)
    again.close()


def test_errors_of_the_core_hide_what_a_caller_sent() -> None:
    error = KeyholeError(f"no file {REQUEST_TOKEN}", suggestion=f"Did you mean {REQUEST_TOKEN}?")
    check_hidden(f"{error} {error.problem} {error.suggestion} {error.worded({})}", "error")


def test_an_index_from_before_masking_answers_at_once_without_secrets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file in the old format was made from these files, but with 36 other characters in place of the token."""
    # The version of the analysis that made it: what is tested here is the migration alone.
    monkeypatch.setattr("keyhole.core.index.update.ANALYSIS_VERSION", 4)
    root = tmp_path / "old"
    token = "ghp_" + text_of(36)
    put(root, "pier.py", f'def moor(token="{token}"):\n    """Moor at the pier."""\n    return token\n')
    put(root, "notes.md", "# Notes\n\nMoor at the pier.\n")
    settle()
    service = Service(root, load_settings(root, {"cache_dir": tmp_path / "cache", "index.model": "none"}))
    service.folder.mkdir(parents=True)
    shutil.copy(OLD_INDEX, service.folder / INDEX_FILE)
    pretend_unchanged(service, root)
    request = SearchRequest("moor", detail_level=Detail.RICH)
    assert "0123456789" not in str(service.explain(request, "pier.py"))
    text = service.search_view(request).text
    assert "notes.md" in text
    assert 'def moor(token="[secret: github-token]")' in text
    assert "0123456789" not in text
    assert token not in text
    # The next run indexes only the file with a secret again, and the one after it none.
    assert (service.index().changed, service.index().changed) == (1, 0)
    assert service.search_view(request).text == text
    service.close()
    assert b"0123456789abcdef" not in (service.folder / INDEX_FILE).read_bytes()


def pretend_unchanged(service: Service, root: Path) -> None:
    """Record the current files as if the old index had been made from them."""
    with apsw.Connection(str(service.folder / INDEX_FILE)) as db:
        for path in ("pier.py", "notes.md"):
            source = read_source(root, path, max_bytes=1_000, secrets=SecretPolicy(masks=False))
            assert isinstance(source, SourceFile)
            values = (*source.stamp, source.digest, path)
            db.execute(
                "UPDATE file SET size = ?, mtime_ns = ?, ctime_ns = ?, inode = ?, digest = ? WHERE path = ?", values
            )
    db.close()


@pytest.mark.parametrize("form", list(Format))
@pytest.mark.parametrize("budget", [1_000, 1_500, 4_000])
def test_what_is_said_about_masks_fits_the_budget(tmp_path: Path, form: Format, budget: int) -> None:
    token = "ghp_" + text_of(36)
    folder = "/".join(["a-folder-with-a-long-name"] * 6)
    paths = tuple(f"{folder}/{letter * number}.py" for number, letter in enumerate("abcdefghijkl", 10))
    for path in paths:
        put(tmp_path, path, "".join(f'def moor_{number}(token="{token}"):\n    pass\n' for number in range(300)))
    service = Service(tmp_path, load_settings(tmp_path, {"cache_dir": tmp_path / ".cache", "index.model": "none"}))
    service.index()
    views = [
        service.read_view(ReadRequest(paths[:1], max_tokens=budget, format=form)),
        service.read_view(ReadRequest(paths, max_tokens=budget, format=form)),
        service.read_view(ReadRequest(paths, start_line=301, max_lines=7, max_tokens=budget, format=form)),
        service.map_view(MapRequest(paths[0], max_tokens=budget, format=form)),
        service.map_view(MapRequest(paths[0], offset=20, level=MapLevel.FULL, max_tokens=budget, format=form)),
        *(
            service.search_view(SearchRequest("moor", detail_level=detail, max_tokens=budget, limit=50, format=form))
            for detail in Detail
        ),
        service.relation_view(TreeRequest(paths[0], max_tokens=budget, format=form)),
    ]
    for view in views:
        assert measure(view.text).tokens <= budget
        assert (view.truncation.estimated_chars, view.truncation.limit_tokens) == (len(view.text), budget)
    assert [" Masked " in view.banner for view in views[:4]] == [True] * 4
    service.close()
