"""Context bundles: what they show, what they cost, and that a bundle file can't get anything else."""

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from fastmcp import Client
from hypothesis import given
from hypothesis import strategies as st
from relating import open_service, put

from keyhole.core.cli.main import run_command
from keyhole.core.errors import QueryError
from keyhole.core.service import Service
from keyhole.core.types.bundle import Bundle, BundleItem, BundleRequest, BundleStyle
from keyhole.core.types.choices import Format
from keyhole.core.types.completeness import Completeness
from keyhole.core.view.budget.tokens import estimate_tokens
from keyhole.core.view.bundles.bundle_file import MOST_ITEMS, bundle_toml, parse_bundle
from keyhole.core.view.text_parts import joined
from keyhole.mcp_server.server import build_server

FENCES = 'Text with ``` and ```` fences\n]]> & <tags> "quoted"\n</source>\n'
LONG = "".join(f"value_{number} = {number}\n" for number in range(400))
CLASS = "import os\n\n\nclass Till:\n    def pay(self):\n        return 1\n\n    def count(self):\n        return 2\n"
FILES = {
    "src/till.py": CLASS,
    "src/long.py": LONG,
    "src/empty.py": "",
    "docs/odd.md": FENCES,
    "build/made.py": "made = 1\n",
    ".gitignore": "build/\n",
    ".env": "KEY=hidden-value-1\n",
}


@pytest.fixture
def shop(tmp_path: Path) -> Service:
    put(tmp_path / "work", FILES)
    return open_service(tmp_path / "work")


def text_of(service: Service, *items: BundleItem, style: BundleStyle = BundleStyle.TEXT) -> str:
    return service.bundle_view(BundleRequest(Bundle(items), style)).text


PAY, ALL = BundleItem("src/till.py", symbol="Till.pay"), BundleItem("src/till.py")


def test_a_bundle_is_written_as_a_read_is(shop: Service) -> None:
    assert text_of(shop, PAY, BundleItem("src/long.py", 2, 3), BundleItem("src/empty.py")) == (
        "Results 1-3 of 3 parts.\n"
        "── src/till.py │ lines 5-6 of 9 │ Till.pay │ Python ──\n"
        "5\t    def pay(self):\n"
        "6\t        return 1\n"
        "── src/long.py │ lines 2-3 of 400 │ Python ──\n"
        "2\tvalue_1 = 1\n"
        "3\tvalue_2 = 2\n"
        "── src/empty.py │ 0 lines │ Python ──\n"
    )


def test_the_cost_is_that_of_the_exported_text(shop: Service) -> None:
    for style in BundleStyle:
        view = shop.bundle_view(BundleRequest(Bundle((PAY, ALL, BundleItem("docs/odd.md"))), style))
        assert view.truncation.estimated_tokens == estimate_tokens(view.text)
        assert joined(view.parts) == view.text
    facts = json.loads(shop.bundle_view(BundleRequest(Bundle((PAY,)), format=Format.JSON)).text)
    assert facts["results"][0]["sources"] == [
        {"start_line": 5, "end_line": 6, "content": "    def pay(self):\n        return 1\n"}
    ]


def test_what_does_not_fit_is_left_out_and_the_next_page_has_it(shop: Service) -> None:
    items = tuple(BundleItem("src/long.py", first, first + 79) for first in range(1, 400, 80))
    seen, offset = [], 0
    while True:
        view = shop.bundle_view(BundleRequest(Bundle(items), offset=offset, max_tokens=1_600))
        assert view.truncation.estimated_tokens <= 1_600
        seen += [line for line in view.text.splitlines() if line.startswith("──")]
        following = view.page.after(len(view.plan.levels))
        if following is None:
            break
        assert view.completeness == Completeness.LEFT_OUT
        assert f"Next page: offset={following}." in view.banner
        offset = following
    assert len(seen) == len(set(seen)) == len(items)


def test_a_part_over_the_whole_budget_says_how_to_read_it(shop: Service) -> None:
    view = shop.bundle_view(BundleRequest(Bundle((BundleItem("src/long.py"), ALL)), max_tokens=1_000))
    assert "Read it: read_file path=src/long.py start_line=1." in view.banner
    assert "value_" not in view.text
    assert view.truncation.estimated_tokens <= 1_000


def test_a_changed_file_is_said_to_be_changed(shop: Service) -> None:
    digest = shop.read("src/till.py").digest
    marked = BundleItem("src/till.py", symbol="Till.pay", digest=digest)
    assert "changed" not in text_of(shop, marked)
    put(shop.root, {"src/till.py": f"# new line\n{CLASS}"})
    text = text_of(shop, marked)
    assert "Note: 1 file has changed since it was marked.\n" in text
    assert (
        "── src/till.py │ lines 6-7 of 10 │ Till.pay │ Python │ changed since it was marked ──\n6\t    def pay" in text
    )


@pytest.mark.parametrize(
    ("item", "why"),
    [
        (BundleItem("../outside.py"), "is outside the workspace"),
        (BundleItem("/etc/passwd"), "is outside the workspace"),
        (BundleItem("build/made.py"), "is not served: ignored"),
        (BundleItem(".env"), "is not served: secret"),
        (BundleItem("src/gone.py"), "is not a file in the workspace"),
        (BundleItem("src/till.py", symbol="Till.gone"), "has no symbol 'Till.gone'"),
        (BundleItem("src/till.py", 90, 99), "lines 90-99 are not there: the file has 9 lines now"),
    ],
)
def test_what_is_not_served_says_why_and_the_rest_is_shown(shop: Service, item: BundleItem, why: str) -> None:
    (shop.root.parent / "outside.py").write_text("outside = 1\n")
    for style in BundleStyle:
        text = text_of(shop, item, PAY, style=style)
        assert why in text.replace("&apos;", "'")
        assert "1 part is not served" in text
        assert "def pay" in text
        assert not any(hidden in text for hidden in ("hidden-value", "made = 1", "outside = 1", "root:"))


def test_no_source_can_fake_the_frame(shop: Service) -> None:
    odd = BundleItem("docs/odd.md")
    parsed = ET.fromstring(text_of(shop, odd, PAY, style=BundleStyle.XML))
    assert [part.get("path") for part in parsed.iter("part")] == ["docs/odd.md", "src/till.py"]
    assert next(source.text for source in parsed.iter("source")) == f"\n{FENCES}"
    markdown = text_of(shop, odd, style=BundleStyle.MARKDOWN)
    assert markdown.endswith(f"\n`````markdown\n{FENCES}`````\n\n")
    assert all(line[0] in "─123R" for line in text_of(shop, odd).splitlines())


@given(
    st.lists(
        st.builds(
            lambda path, lines, symbol: BundleItem(
                path, 0 if symbol else lines[0], 0 if symbol else lines[1], symbol, "d\x7f\n"
            ),
            st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1),
            st.tuples(st.integers(1, 50), st.integers(50, 999)),
            st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])),
        ),
        unique=True,
    ),
    st.none() | st.integers(1_000, 25_000),
)
def test_a_saved_bundle_is_read_as_it_was(items: list[BundleItem], tokens: int | None) -> None:
    bundle = Bundle(tuple(items), tokens)
    assert parse_bundle(bundle_toml(bundle), "it") == bundle


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "it has no list of items"),
        ("{", "Expecting property name"),
        ("[[items]]\n", "item 1 has no path"),
        ('[[items]]\npath = "a"\nlines = "9-2"\n', "lines of item 1 must be as in \"10-20\", not '9-2'"),
        ('[[items]]\npath = "a"\nlines = 3\n', "lines of item 1 is not a text"),
        ('[[items]]\npath = "a"\nlines = "1"\nsymbol = "b"\n', "item 1 has both lines and a symbol"),
        ('[[items]]\npath = "a"\nwhole = true\n', "item 1 has an unknown key 'whole'"),
        ('{"items": [{"path": "a\\u0000"}]}', "path of item 1 is not a text"),
        ('{"items": [1]}', "item 1 is not a table"),
        ('{"items": [], "max_tokens": true}', "max_tokens is not a number"),
        ('{"items": ' + "[" * 100_000, "is not a bundle"),
        (f'{{"items": [{",".join(["1"] * (MOST_ITEMS + 1))}]}}', "501 items, more than 500"),
    ],
)
def test_a_wrong_file_says_what_is_wrong(text: str, why: str) -> None:
    with pytest.raises(QueryError, match="it is not a bundle: ") as error:
        parse_bundle(text, "it")
    assert why in str(error.value)


def test_the_command_writes_what_the_view_does(shop: Service, capfd: pytest.CaptureFixture[str]) -> None:
    file = shop.root.parent / "review.toml"
    bundle = Bundle((PAY, BundleItem("src/long.py", 1, 300)), 1_500)
    file.write_text(bundle_toml(bundle))
    for style in BundleStyle:
        assert run_command(["bundle", str(file), "--root", str(shop.root), "--format", style.value]) == 0
        assert capfd.readouterr().out == shop.bundle_view(BundleRequest(bundle, style)).text
    assert run_command(["bundle", str(file), "--root", str(shop.root), "--offset", "1", "--budget", "9000"]) == 0
    assert capfd.readouterr().out.startswith("Result 2 of 2 parts.\n")
    file.write_text("items = []")
    assert run_command(["bundle", str(file), "--root", str(shop.root)]) == 2
    assert "the bundle is empty" in capfd.readouterr().err


@pytest.mark.anyio
async def test_agents_read_bundles_as_resources(shop: Service) -> None:
    bundle = Bundle((PAY, BundleItem("src/long.py", 1, 300), ALL), 2_000)
    put(shop.root, {"review.toml": bundle_toml(bundle), "broken.toml": "items = 1\n"})
    async with Client(build_server(shop)) as client:
        assert "keyhole://bundle" in [str(found.uri) for found in await client.list_resources()]
        assert "Nothing is marked" in str(await client.read_resource("keyhole://bundle"))
        shop.bundle_file.write_text(bundle_toml(bundle))
        (marked,) = await client.read_resource("keyhole://bundle")
        (page,) = await client.read_resource("keyhole://bundle?offset=2")
        (saved,) = await client.read_resource("keyhole://bundle/review.toml")
        (rest,) = await client.read_resource("keyhole://bundle/review.toml?offset=2")
        with pytest.raises(Exception, match=r"broken.toml is not a bundle"):
            await client.read_resource("keyhole://bundle/broken.toml")
        with pytest.raises(Exception, match="not served: secret"):
            await client.read_resource("keyhole://bundle/.env")
    usual = shop.bundle_view(BundleRequest(bundle, max_tokens=20_000))
    assert marked.text == saved.text == usual.text
    assert page.text == rest.text == shop.bundle_view(BundleRequest(bundle, offset=2)).text


def test_clearing_the_index_keeps_what_is_marked(shop: Service) -> None:
    shop.bundle_file.write_text(bundle_toml(Bundle((PAY,))))
    assert shop.clear()
    assert shop.marked_bundle() == Bundle((PAY,))
