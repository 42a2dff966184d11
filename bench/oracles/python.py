"""basedpyright as an oracle for Python; each project has an environment with its dependencies, as types need them."""

import subprocess
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path

from oracles.language_server import LanguageServer
from oracles.places import Asked, Place

HERE = Path(__file__).parent
MANIFEST = HERE.parent / "quality" / "references.toml"
DATA = HERE.parent / ".data" / "references"


def references(project: Path, asked: Sequence[Asked]) -> dict[Asked, frozenset[Place]]:
    """Return the references of each asked definition that basedpyright knows."""
    programs = _environment(project) / "bin"
    settings = {
        "python": {"pythonPath": str(programs / "python")},
        "basedpyright": {"analysis": {"diagnosticMode": "openFilesOnly", "autoSearchPaths": True}},
    }
    # Otherwise the server would use the settings of Keyhole, which is a folder above.
    (project / "pyrightconfig.json").write_text("{}\n")
    answers = {}
    with LanguageServer([str(programs / "basedpyright-langserver"), "--stdio"], project, "python", settings) as server:
        server.wait_for_log(" source files")
        for one in asked:
            if (found := server.references(one)) is not None:
                answers[one] = found
    return answers


def loaded_files(project: Path) -> list[str]:
    """Return the files that the server reads: it leaves out folders whose name starts with a dot."""
    found = (path.relative_to(project) for path in project.rglob("*") if path.suffix in {".py", ".pyi"})
    return sorted(path.as_posix() for path in found if not any(part.startswith(".") for part in path.parts))


def _environment(project: Path) -> Path:
    """Return a virtual environment with basedpyright and what the project depends on, but not the project itself."""
    manifest = tomllib.loads(MANIFEST.read_text())
    (known,) = [one for one in manifest["project"] if project.name == one["folder"]]
    pinned = f"{known['name']}=={known['version']}"
    folder = DATA / f"python-{known['name']}-{known['version']}"
    if not (folder / "ready").exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)
        pip = [str(folder / "bin" / "python"), "-m", "pip", "--quiet"]
        subprocess.run([*pip, "install", pinned], check=True)
        subprocess.run([*pip, "uninstall", "--yes", known["name"]], check=True)
        subprocess.run([*pip, "install", f"basedpyright=={manifest['tools']['basedpyright']}"], check=True)
        (folder / "ready").touch()
    return folder
