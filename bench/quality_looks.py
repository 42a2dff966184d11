"""Count the looks at the held-out half of the labels.

Ranking is tuned on the other half only. Each look at this half makes it a little less of a test, so each is counted
with its reason in bench/records/looks.toml, before its figures are shown.
"""

import tomllib
from datetime import UTC, datetime

from record import HERE, commit

LOOKS = HERE / "records" / "looks.toml"


def count_look(why: str) -> int:
    """Add a look, and return how many there are."""
    text = LOOKS.read_text() if LOOKS.is_file() else ""
    reason = why.replace("\\", "\\\\").replace('"', '\\"')
    text += f'\n[[look]]\ndate = "{datetime.now(UTC):%Y-%m-%dT%H:%M}"\ncommit = "{commit()}"\nwhy = "{reason}"\n'
    looks = len(tomllib.loads(text)["look"])
    LOOKS.write_text(text)
    print(f"look {looks} at the held-out half; commit {LOOKS.relative_to(HERE.parent)}")
    return looks
