"""A folder of notes like an Obsidian vault: many links, one note that most others link to, cycles."""

import random
from pathlib import Path

WORDS = [
    "garden",
    "river",
    "budget",
    "letter",
    "engine",
    "winter",
    "recipe",
    "travel",
    "music",
    "theory",
    "harbour",
    "signal",
    "pattern",
    "market",
    "village",
    "paper",
    "window",
    "answer",
    "summer",
    "mountain",
    "bridge",
    "archive",
    "morning",
    "history",
]


def write_vault(root: Path, *, notes: int, links: int, hub_links: int, seed: int = 11) -> Path:
    """Write notes with a number of links, some of them to one hub; a few are broken, and a few lead to the web."""
    chance = random.Random(seed)
    names = [f"{chance.choice(WORDS)} {number}" for number in range(notes)]
    folders = [f"{chance.choice(WORDS)}/{chance.choice(WORDS)}" if number % 3 else "" for number in range(notes)]
    paths = [f"{folder}/{name}.md".lstrip("/") for folder, name in zip(folders, names, strict=True)]
    to_hub = set(chance.sample(range(notes), hub_links))
    each = (links - hub_links) // notes
    extra = links - hub_links - each * notes
    root.mkdir(parents=True, exist_ok=True)
    (root / "Hub.md").write_text("# Hub\n\nWhere everything meets.\n\n## Start here\n\nWords about nothing.\n")
    for number, path in enumerate(paths):
        targets = [_link(chance, paths, names, path) for _ in range(each + (number < extra))]
        targets += ["[[Hub]]" if number % 2 else "[[hub#Start here|the hub]]"] if number in to_hub else []
        text = [f"# {names[number].title()}", "", _sentences(chance), "", "## Details", ""]
        text += [f"{_sentences(chance)} {target}." for target in targets]
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("\n".join([*text, "", _sentences(chance), ""]))
    return root


def _link(chance: random.Random, paths: list[str], names: list[str], source: str) -> str:
    number = chance.randrange(len(paths))
    kind = chance.random()
    if kind < 0.02:
        return f"[[nothing {number}]]"
    if kind < 0.04:
        return f"[[{names[number]}#No such part]]"
    if kind < 0.10:
        return f"[site](https://{chance.choice(WORDS)}.example.org/{number})"
    if kind < 0.30:
        ups = "../" * source.count("/")
        return f"[{names[number]}]({ups}{paths[number].replace(' ', '%20')}{'#details' if kind < 0.2 else ''})"
    return f"[[{names[number]}{'#Details' if kind < 0.5 else ''}|{chance.choice(WORDS)}]]"


def _sentences(chance: random.Random) -> str:
    return " ".join(" ".join(chance.choices(WORDS, k=9)).capitalize() + "." for _ in range(3))
