"""The layout: names are unique, and every module belongs to a layer."""

import ast
import re
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

REPOSITORY = Path(__file__).parent.parent
PACKAGES = ("core", "tui", "mcp_server", "web_server")


def modules() -> list[Path]:
    return [path for package in PACKAGES for path in sorted((REPOSITORY / package).rglob("*.py"))]


def repeated(places: Iterator[tuple[str, Path]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for name, path in places:
        found[name].append(str(path.relative_to(REPOSITORY)))
    return {name: paths for name, paths in found.items() if len(paths) > 1}


def test_no_two_modules_share_a_name() -> None:
    assert len(modules()) > 100
    assert repeated((path.name, path) for path in modules() if path.name != "__init__.py") == {}


def test_no_two_classes_share_a_name() -> None:
    def classes() -> Iterator[tuple[str, Path]]:
        for path in modules():
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.ClassDef):
                    yield node.name, path

    assert repeated(classes()) == {}


def test_no_folder_hides_a_module_from_mypy() -> None:
    """Given a folder to check, mypy skips a module if a folder next to it has the same name and contains modules."""
    scripts = [path for folder in ("bench", "tests") for path in (REPOSITORY / folder).glob("*.py")]
    assert [path.name for path in scripts if any(path.with_suffix("").glob("*.py"))] == []


def test_every_module_is_inside_a_layer() -> None:
    settings = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["tool"]["importlinter"]
    (contract,) = [found for found in settings["contracts"] if found["type"] == "layers"]
    layers = [name.strip() for layer in contract["layers"] for name in layer.split("|")]
    for path in modules():
        name = ".".join(("keyhole", *path.relative_to(REPOSITORY).with_suffix("").parts)).removesuffix(".__init__")
        assert name == "keyhole.core" or any(f"{name}.".startswith(f"{layer}.") for layer in layers), name


def test_all_of_the_core_but_the_command_line_is_held_to_be_headless() -> None:
    settings = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["tool"]["importlinter"]
    (contract,) = [found for found in settings["contracts"] if found["name"] == "The core is headless"]
    parts = {path.stem for path in (REPOSITORY / "core").iterdir() if not path.name.startswith("_")}
    assert {f"keyhole.core.{part}" for part in parts} - {"keyhole.core.cli"} == set(contract["source_modules"])


def test_what_the_architecture_names_is_there() -> None:
    text = (REPOSITORY / "docs/architecture.md").read_text()
    by_name = {path.name: path for path in modules()}
    named = re.findall(r"`(?:[\w/]+/)?(\w+\.py)(?:: ([\w.]+))?`", text)
    assert len(named) > 20
    for name, member in named:
        defined = ast.parse(by_name[name].read_text())
        for part in member.split(".") if member else ():
            found = [node for node in ast.walk(defined) if getattr(node, "name", None) == part]
            assert found, f"{name}: {member}"
            defined = found[0]  # type: ignore[assignment]  # a class or a function has a body, like a module
    for folder in re.findall(r"`((?:core|tui|mcp_server|web_server)(?:/\w+)*)`", text):
        assert (REPOSITORY / folder).is_dir(), folder
