"""What the packages contain, what an import loads, and the direction of imports."""

import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parent.parent
SHIPPED = ("core", "tui", "mcp_server", "assets")
HEAVY = {
    "numpy",
    "model2vec",
    "tree_sitter",
    "tree_sitter_language_pack",
    "textual",
    "fastmcp",
    "mcp",
    "aiohttp",
    "pydantic",
    "apsw",
    "tomlkit",
}


def run(*command: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(part) for part in command], cwd=cwd, capture_output=True, text=True, check=False)


def modules_after(code: str, cwd: Path) -> set[str]:
    """Run code in a new interpreter and return the top-level modules it has loaded."""
    report = "; import sys; print(*sorted({name.split('.')[0] for name in sys.modules}))"
    done = run(sys.executable, "-c", code + report, cwd=cwd)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split("\n")[-2].split())


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    built = run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder, cwd=REPOSITORY)
    assert built.returncode == 0, built.stderr
    (path,) = folder.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the wheel into a new environment, with the dependencies of this one."""
    environment = tmp_path_factory.mktemp("environment")
    venv.create(environment, with_pip=False)
    python = environment / "bin/python"
    pip = ["-m", "pip", "--python", str(python), "install", "--quiet", "--no-deps", "--no-index", str(wheel)]
    done = run(sys.executable, *pip, cwd=environment)
    assert done.returncode == 0, done.stderr
    site = run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=environment).stdout.strip()
    # A .pth line adds the folder without reading the .pth files in it, so without the editable install.
    (Path(site) / "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return environment


def test_the_wheel_holds_every_file_of_the_shipped_folders(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    wanted = {
        f"keyhole/{path.relative_to(REPOSITORY).as_posix()}"
        for folder in SHIPPED
        for path in (REPOSITORY / folder).rglob("*")
        if path.is_file() and not {"__pycache__", "screenshots"} & {*path.parts}
    }
    assert wanted | {"keyhole/__init__.py", "keyhole/py.typed"} <= names
    assert all(name.startswith(("keyhole/", "keyhole-")) for name in names)
    assert not [name for name in names if "/screenshots/" in name]
    assert wheel.stat().st_size <= 14_000_000


def test_the_installed_wheel_runs_in_a_folder_with_its_own_core(installed: Path, tmp_path: Path) -> None:
    assert run(installed / "bin/python", "-c", "import core", cwd=tmp_path).returncode != 0
    for name in SHIPPED:
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("raise SystemExit('the wrong module')")
    help_text = run(installed / "bin/keyhole", "--help", cwd=tmp_path)
    assert help_text.returncode == 0, help_text.stderr
    assert "See your codebase" in help_text.stdout
    (tmp_path / "a.py").write_text("def found(): pass\n")
    mapped = run(installed / "bin/keyhole", "map", "a.py", cwd=tmp_path)
    assert "def found(): [1-1]" in mapped.stdout, mapped.stderr


def test_the_installed_package_is_not_the_checkout(installed: Path, tmp_path: Path) -> None:
    origin = run(installed / "bin/python", "-c", "import keyhole; print(keyhole.__file__)", cwd=tmp_path).stdout
    assert str(installed) in origin


def test_every_module_of_the_core_is_headless(tmp_path: Path) -> None:
    names = [
        "keyhole." + ".".join(path.relative_to(REPOSITORY).with_suffix("").parts).removesuffix(".__init__")
        for path in (REPOSITORY / "core").rglob("*.py")
    ]
    loaded = modules_after(f"import {', '.join(sorted(names))}", tmp_path)
    assert "keyhole" in loaded
    assert not loaded & {"textual", "fastmcp", "mcp"}


@pytest.mark.parametrize("arguments", [["--help"], ["map", "--help"], ["--version"]])
def test_help_imports_nothing_heavy(arguments: list[str], tmp_path: Path) -> None:
    code = f"from keyhole.core.cli.main import run; run({arguments!r})"
    assert not modules_after(code, tmp_path) & HEAVY


def test_no_relative_or_bare_imports_of_the_shipped_folders() -> None:
    for folder in SHIPPED:
        for path in (REPOSITORY / folder).rglob("*.py"):
            text = path.read_text()
            for name in SHIPPED:
                assert f"\nimport {name}" not in text, path
                assert f"\nfrom {name}" not in text, path


def test_constraints_pin_plain_versions() -> None:
    lines = (REPOSITORY / "constraints.txt").read_text().splitlines()
    assert len(lines) > 20
    assert all(line.count("==") == 1 and "/" not in line and " " not in line for line in lines)
