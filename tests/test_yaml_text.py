"""One entry of a YAML file changes; everything else stays the same."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyhole.core.install import yaml_text

ENTRY: dict[str, object] = {"cmd": "keyhole", "args": ["mcp"]}
WRITTEN = "  keyhole:\n    cmd: keyhole\n    args:\n    - mcp\n"


@pytest.mark.parametrize(
    ("text", "changed"),
    [
        pytest.param("", f"extensions:\n{WRITTEN}", id="nothing"),
        pytest.param("# mine\n", f"# mine\nextensions:\n{WRITTEN}", id="only a comment"),
        pytest.param("A: 1 # one", f"A: 1 # one\nextensions:\n{WRITTEN}", id="no line end"),
        pytest.param("---\nA: 1\n", f"---\nA: 1\nextensions:\n{WRITTEN}", id="a document mark"),
        pytest.param("extensions:\nA: 1\n", f"extensions:\n{WRITTEN}A: 1\n", id="an empty section"),
        pytest.param("extensions: {}\nA: 1\n", f"extensions:\n{WRITTEN}A: 1\n", id="an empty section in brackets"),
        pytest.param(
            "extensions: # all\n  # first\n  dev: # d\n    type: builtin\n# end\nB: [1, 2]\n",
            f"extensions: # all\n{WRITTEN}  # first\n  dev: # d\n    type: builtin\n# end\nB: [1, 2]\n",
            id="comments",
        ),
        pytest.param(
            "extensions:\n    dev:\n        type: x\n",
            "extensions:\n    keyhole:\n      cmd: keyhole\n      args:\n      - mcp\n    dev:\n        type: x\n",
            id="another indentation",
        ),
        pytest.param(
            "extensions:\n  keyhole:\n    cmd: old\n    envs: {A: '#1'}\n  dev: {type: x} # d\n",
            "extensions:\n  keyhole:\n    cmd: keyhole\n    envs:\n      A: '#1'\n    args:\n    - mcp\n"
            "  dev: {type: x} # d\n",
            id="an old entry",
        ),
        pytest.param(
            "extensions:\r\n  dev:\r\n    type: x\r\n",
            "extensions:\r\n" + WRITTEN.replace("\n", "\r\n") + "  dev:\r\n    type: x\r\n",
            id="CRLF",
        ),
    ],
)
def test_yaml_is_changed_in_place(text: str, changed: str) -> None:
    assert yaml_text.set_entry(text, "extensions", "keyhole", ENTRY) == changed
    assert yaml_text.set_entry(changed, "extensions", "keyhole", ENTRY) == changed
    assert "keyhole" not in yaml_text.remove_entry(changed, "extensions", "keyhole")


@pytest.mark.parametrize(
    ("text", "removed"),
    [
        (f"A: 1\nextensions:\n{WRITTEN}  # dev\n  dev:\n    a: 1\n", "A: 1\nextensions:\n  # dev\n  dev:\n    a: 1\n"),
        (f"A: 1\nextensions:\n{WRITTEN}B: 2\n", "A: 1\nB: 2\n"),
        ("extensions:\n  dev:\n    a: 1\n\n  keyhole: {cmd: x}\n# end\n", "extensions:\n  dev:\n    a: 1\n\n# end\n"),
        ("A: keyhole\n", "A: keyhole\n"),
    ],
)
def test_only_our_lines_are_removed(text: str, removed: str) -> None:
    assert yaml_text.remove_entry(text, "extensions", "keyhole") == removed


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("extensions: {dev: {a: 1}}\n", "one key per line"),
        ("{A: 1}\n", "one key per line"),
        ("extensions: [a]\n", "not a mapping"),
        ("- a\n", "not a mapping"),
        ("A: [\n", "expected"),
        ("A: 1\n---\nB: 2\n", "expected a single document"),
        ("A: &a {b: 1}\nB: *a\n", "aliases"),
        ("extensions:\n  keyhole:\n    cmd: old # mine\n", "has comments"),
        ("extensions:\n  keyhole:\n    args: [a, # mine\n      b]\n", "has comments"),
        ("extensions:\n  keyhole:\n    description: |\n      long\n    cmd: x\n", "texts of several lines"),
        ("extensions:\n  dev: {}\nextensions:\n  dev: {}\n", "is there 2 times"),
        ("A: 1\n...\n", "where a document ends"),
        ("A: !!python/object/apply:os.system [id]\n", "could not determine a constructor"),
        pytest.param("[" * 9_000, "nested too deeply", id="deep"),
        ("A: \x00\n", "unacceptable character"),
    ],
)
def test_yaml_that_cannot_be_changed_safely_is_refused(text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        yaml_text.set_entry(text, "extensions", "keyhole", ENTRY)


def test_aliases_of_aliases_do_not_take_forever() -> None:
    bomb = "a0: &a0 [x, x]\n" + "".join(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]\n" for n in range(1, 60))
    with pytest.raises(ValueError, match="aliases"):
        yaml_text.parse(bomb)


@given(st.text("extnsio:keyhl \n-#[]{}'\"a1&*|>!%", max_size=60) | st.text(max_size=30))
def test_any_yaml_is_changed_nowhere_else_or_refused(text: str) -> None:
    try:
        before = yaml_text.parse(text)
        changed = yaml_text.set_entry(text, "extensions", "keyhole", ENTRY)
        after = yaml_text.parse(changed)
    except ValueError:
        return
    assert after["extensions"]["keyhole"].items() >= ENTRY.items()  # type: ignore[index]
    assert yaml_text.parse(yaml_text.remove_entry(changed, "extensions", "keyhole")).keys() - {"extensions"} == (
        before.keys() - {"extensions"}
    )
