"""The documentation: its examples run, its links lead somewhere, and the README is short."""

import re
import shlex
import shutil
from pathlib import Path

import pytest
from acme import write_acme
from click.testing import CliRunner

from keyhole.core.cli.main import cli
from keyhole.core.config import load_settings
from keyhole.core.links.requests import BrokenLinksRequest
from keyhole.core.service import Service

REPOSITORY = Path(__file__).parent.parent
PAGES = [REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").glob("*.md"))]
# The generated reference has no examples of its own: its commands' help is tested with them.
EXAMPLES = sorted(
    {
        line.removeprefix("$ ")
        for page in PAGES
        for block in re.findall(r"```console\n(.*?)```", page.read_text(), re.DOTALL)
        for line in block.splitlines()
        if line.startswith("$ keyhole")
    }
)
# These wait for a person, an agent or a browser.
WAITING = ("", "mcp", "web", "demo")
# What pages may link to besides each other.
LINKED = (
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "LICENSE",
    "assets",
    "bench/records",
    "bench/model/README.md",
    "core/view/budget/tokens.py",
)


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(write_acme(tmp_path / "acme"))
    monkeypatch.setenv("KEYHOLE_CACHE_DIR", str(tmp_path / "cache"))


@pytest.mark.parametrize("example", EXAMPLES)
@pytest.mark.usefixtures("workspace")
def test_every_example_runs(example: str) -> None:
    _, *arguments = shlex.split(example)
    if (arguments or [""])[0] in WAITING:
        arguments = [*arguments[:1], "--help"]
    done = CliRunner().invoke(cli, arguments)
    # 1 means that this small workspace does not contain what a larger one does.
    assert done.exit_code in (0, 1), done.output + str(done.exception)
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception


def test_every_link_in_the_documentation_leads_somewhere(tmp_path: Path) -> None:
    root = tmp_path / "docs-only"
    shutil.copytree(REPOSITORY / "docs", root / "docs")
    shutil.copy(REPOSITORY / "README.md", root)
    for name in LINKED:
        source = REPOSITORY / name
        target = root / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("*.safetensors", "__pycache__"))
        else:
            shutil.copy(source, target)
    service = Service(root, load_settings(root, {"cache_dir": tmp_path / "cache", "index.model": "none"}))
    service.index()
    broken = service.relation_view(BrokenLinksRequest())
    assert broken.text.startswith("Nothing found: no broken links in"), broken.text


def test_the_readme_is_short() -> None:
    assert len((REPOSITORY / "README.md").read_text().split()) <= 900
