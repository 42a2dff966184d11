"""Real answers of Keyhole for the lab: its own source, asked as agents ask, as text and as JSON."""

import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from case_texts import ANSWERS

_SOURCE = Path(__file__).parents[2] / "core"
_KEYHOLE = str(Path(sys.executable).with_name("keyhole"))
_BUDGET = ["--budget", "25000"]
_ASKED = {
    "search-rich": ["search", "how is an answer fitted into a budget", "--detail", "rich", "--limit", "50", *_BUDGET],
    "search-compact": ["search", "journal of calls", "--limit", "50", *_BUDGET],
    "search-regex": ["search", "/def \\w+/", "--limit", "500", *_BUDGET],
    "map": ["map", "service.py", "--level", "compact", *_BUDGET],
    "read": ["read", "search/engine.py", "service.py", "masking.py", *_BUDGET],
    "tree": ["tree", "--relation", "descendants", "--limit", "500", *_BUDGET],
    "references": ["refs", "Settings", "--limit", "500", *_BUDGET],
}


def make_answers() -> None:
    """Ask, and store the answers."""
    with tempfile.TemporaryDirectory() as cache, zipfile.ZipFile(ANSWERS, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, arguments in _ASKED.items():
            for form in ("text", "json"):
                command = [_KEYHOLE, *arguments, "--format", form, "--root", str(_SOURCE)]
                environment = {"KEYHOLE_CACHE_DIR": cache, "PATH": "/usr/bin:/bin", "HOME": cache}
                done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
                # A fixed date keeps the file the same if the answers are.
                packed.writestr(
                    zipfile.ZipInfo(f"{name}.{form}", (2026, 1, 1, 0, 0, 0)), done.stdout, zipfile.ZIP_DEFLATED
                )
                print(f"{name}.{form}: {len(done.stdout):,} characters")


if __name__ == "__main__":
    make_answers()
