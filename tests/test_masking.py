"""Masks: every shape is masked wherever it stands, line counts stay, and ordinary text stays as it is."""

from pathlib import Path

import pytest
from canaries import CANARIES, ENCODED_KEY, key_block, putty_key, text_of
from hypothesis import given
from hypothesis import strategies as st

from keyhole.core.cli.main import run_command
from keyhole.core.files.walk import scan
from keyhole.core.masking import Mask, find_and_mask, mask_text

KINDS = sorted({kind for kind, _, _ in CANARIES})


def as_written(kind: str, token: str) -> str:
    """Return a token with the text that belongs to its shape."""
    if kind == "slack-webhook":
        return "https://hooks.slack" + f".com/services/{token}"
    return "aws_secret_access" + f"_key={token}" if kind == "aws-secret-key" else token


@pytest.mark.parametrize(
    "around", ["{}", "x = '{}'\n", "A={}\n", "https://{}@example.org/", "é{{{}}}é", "TOKEN_{}", "{},{}"]
)
@pytest.mark.parametrize(("kind", "token", "secret"), CANARIES)
def test_every_shape_is_masked(kind: str, token: str, secret: str, around: str) -> None:
    text = around.format(*[as_written(kind, token)] * 2)
    shown, masks = find_and_mask(text)
    assert secret not in shown
    assert shown.count(f"[secret: {kind}]") == len(masks) == text.count(secret)
    assert {mask.kind for mask in masks} == {kind}


def test_masks_know_their_lines() -> None:
    tokens = [token for kind, token, _ in CANARIES if kind == "github-token"]
    text = f"one\n{tokens[0]} {tokens[1]}\r\n\n{key_block()}last {tokens[2]}"
    shown, masks = find_and_mask(text)
    lines = len(key_block().splitlines())
    token, key = "github-token", "private-key"
    assert masks == (Mask(2, 2, token), Mask(2, 2, token), Mask(4, 3 + lines, key), Mask(4 + lines, 4 + lines, token))
    assert shown.count("\n") == text.count("\n")
    assert shown.split("\n")[4] == "[secret: private-key]"
    assert shown.endswith("-----END RSA PRIVATE KEY-----\nlast [secret: github-token]")


@pytest.mark.parametrize(
    "text",
    [
        key_block(),
        key_block("OPENSSH PRIVATE KEY"),
        key_block("PGP PRIVATE KEY BLOCK"),
        key_block().replace("\n", "\r\n"),
        key_block().replace("\n", "\\n"),
        "".join(f'    "{line}\\n" +\n' for line in key_block().splitlines()),
        key_block()[:500],
        f"client-key-data: {ENCODED_KEY}\n",
    ],
)
def test_every_form_of_a_key_block_is_masked(text: str) -> None:
    shown, (mask,) = find_and_mask(text)
    assert mask.kind == "private-key"
    assert shown.count("\n") == text.count("\n")
    for line in key_block().splitlines()[1:-2]:
        assert line[:20] not in shown
    assert ENCODED_KEY[100:140] not in shown


@pytest.mark.parametrize(
    "text",
    [
        "AKIA" + "IOSFODNN7EXAMPLE",
        "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/" + "bPxRfiCYEXAMPLEKEY",
        "gho_" + "16C7e42F292c6912E7710c838347Ae178B4a",
        "sk_test_" + "4eC39HqLyjWDarjtT1zdp7dc",
        "ghp_" + "x" * 36,
        "xoxb-not-a-real-token-this-will-not-work",
        "https://hooks.slack" + ".com/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX",
        "sk-learn-is-a-name-with-many-words-in-it-2",
        "risk-" + "a1b2c3d4" * 6,
        "task-" + "a1b2c3d4" * 6,
        "sk-spinner-of-dots-that-fade-and-bounce-12",
        '"-----BEGIN PRIVATE KEY-----" in text and "-----END PRIVATE KEY-----" in text',
        "-----BEGIN RSA PRIVATE KEY-----\nMIIE...\n-----END RSA PRIVATE KEY-----\n",
        "-----BEGIN CERTIFICATE-----\n" + "A1b2" * 300 + "\n-----END CERTIFICATE-----\n",
        "ASIA and AKIA are prefixes; ghp_ and sk_live_ too",
        "[secret: github-token]",
    ],
)
def test_examples_placeholders_and_ordinary_text_stay(text: str) -> None:
    assert find_and_mask(text) == (text, ())


def test_a_token_inside_a_longer_word_stays() -> None:
    token = "ghp_" + text_of(36)
    assert mask_text(f"x{token}") == f"x{token}"


@given(
    st.lists(st.sampled_from([*(token for _, token, _ in CANARIES), key_block(), "word", "é", "\n", "\r\n", " ", "-"]))
)
def test_lines_stay_and_masking_twice_changes_nothing(parts: list[str]) -> None:
    text = " ".join(parts)
    shown, masks = find_and_mask(text)
    assert shown.count("\n") == text.count("\n")
    assert mask_text(shown) == shown
    assert all(shown.split("\n")[mask.start_line - 1 : mask.end_line] for mask in masks)


def test_a_hostile_text_is_masked_in_linear_time() -> None:
    """If one of these took quadratic time, the test would take minutes."""
    for part in [
        "-----BEGIN PRIVATE KEY-----\n",
        "sk-",
        "AKIA",
        "xoxb-1",
        "LS0tLS1CRUdJTiB",
        ENCODED_KEY[:56] + "\n",
        "aws_secret_key=",
        "awsSecretKey=",
        "aws_secret_key" + " " * 4_000,
        "LS0tLS1CRUdJTiB/",
        "-sk-a1",
        "ghp_",
        "-xoxb-1",
        "PuTTY-User-Key-File-2: ",
        "A" * 39 + " ",
    ]:
        text = part * (200_000 // len(part))
        # Without a token, the first pass would end the search.
        assert len(find_and_mask(f"{text} {GITHUB}")[1]) >= 1


GITHUB = "ghp_" + text_of(36)


def test_a_character_that_is_not_valid_text_does_not_stop_masking() -> None:
    assert mask_text(f"\udcff{GITHUB}\ud800 é \udcff") == "\udcff[secret: github-token]\ud800 é \udcff"


def test_a_file_name_and_an_argument_may_have_bytes_that_are_not_utf8(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = f"latin-\udcff-{GITHUB}.py"
    (tmp_path / name).write_text("x = 1\n")
    (skip,) = scan(tmp_path, max_bytes=1_000).skips
    assert skip.path == "latin-\\udcff-[secret: github-token].py"
    run_command(["search", f"\udcff-{GITHUB}", f"\udcff-{GITHUB}"])
    shown = "".join(capsys.readouterr())
    assert "[secret: github-token]" in shown
    assert GITHUB not in shown


@pytest.mark.parametrize(
    "before", [r"\n", r"\r\n", r"\t", r"\\n", r"\u00e9", r"\x1b", "%3D", "%3a", "鍵", "ключ", "é", "²"]
)
@pytest.mark.parametrize(("kind", "token", "secret"), CANARIES)
def test_a_token_after_an_escape_or_another_script_is_masked(kind: str, token: str, secret: str, before: str) -> None:
    shown = mask_text(f"x {before}{as_written(kind, token)}")
    assert secret not in shown
    assert shown.startswith(f"x {before}")


@pytest.mark.parametrize(
    "before",
    [
        "task-runner-nightly-documentation-build_",
        "sk-runner-nightly-documentation-build_",
        "https://desk-app-with-a-name-that-is-long-enough-",
        "xoxb-letters-and-more-letters-",
        "glpat-letters-and-more-letters-",
        "aws_secret_access_key = " + "a" * 45 + "/",
        "sk_live_",
    ],
)
def test_a_false_start_hides_no_token(before: str) -> None:
    gitlab = "glpat-" + text_of(20)
    assert GITHUB[4:] not in mask_text(f"{before}{GITHUB}")
    assert gitlab[6:] not in mask_text(f"{before}{gitlab}@host")


@pytest.mark.parametrize("length", [500, 5_000])
def test_a_very_long_token_is_masked_whole(length: int) -> None:
    assert mask_text(f"ghp_{text_of(length)} rest") == "[secret: github-token] rest"


HEX = "0123456789abcdef"
UUID = "-".join(text_of(length, HEX) for length in (8, 4, 4, 4, 12))


@pytest.mark.parametrize(
    "text",
    [
        f"sk-{UUID}",
        f"sk-estimator-id-{text_of(32, HEX)}",
        f"sk-estimator-id-{UUID}",
        "ASIA" + "PACIFICREGIONONE",
        "AKIA" + "ABCDEFGHIJKLMNOP",
        "aws_secret_key = " + "readTheSecretKeyFromTheConfiguredVaultForUs()",
        "aws_secret_key = " + "readTheSecretKeyFromTheConfiguredVaultV2ForUs()",
        "sk_live_" + "yourstripesecretkeyhere",
        "sk_live_" + "yourStripeSecretKeyHere",
    ],
)
def test_words_and_identifiers_are_not_masked(text: str) -> None:
    assert mask_text(text) == text


@pytest.mark.parametrize("prefix", ["sk-", "sk-or-v1-"])
def test_hexadecimal_api_keys_are_masked(prefix: str) -> None:
    assert mask_text(prefix + text_of(64, HEX)) == "[secret: api-key]"


def test_tokens_of_letters_only_are_masked() -> None:
    assert mask_text("AKIA" + "QZXWVBNMKLPTRSDF") == "[secret: aws-access-key]"
    assert mask_text("sk_live_" + "".join(a + b for a, b in zip("QWRTPSDFGHKL", "zxcvbnmlkjhg", strict=True)))[0] == "["


@pytest.mark.parametrize(
    "around",
    [
        "aws_secret_access_key      = {}",
        'aws_secret_access_key:     "{}"',
        'awsSecretKey := "{}"',
        'const awsSecretKey: string = "{}"',
        'const AWS_SECRET_KEY: &\'static str = "{}";',
        "ENV AWS_SECRET_ACCESS_KEY {}",
        '"SecretAccessKey": "{}",',
        "secretAccessKey: '{}',",
        'myAwsSecretAccessKey = "{}"',
        'secret_key = "{}"',
        "aws_secret_access_key={}.md",
        "aws_secret_access_key={}_old",
        'os.environ["AWS_SECRET_ACCESS_KEY"] = "{}"',
        "<SecretAccessKey>{}</SecretAccessKey>",
        "${{AWS_SECRET_ACCESS_KEY:-{}}}",
        '\\"aws-secret-access-key\\": \\"{}\\"',
        '- name: AWS_SECRET_ACCESS_KEY\n  value: "{}"',
        '{{"name": "AWS_SECRET_ACCESS_KEY", "value": "{}"}}',
    ],
)
def test_every_form_of_an_aws_secret_key_is_masked(around: str) -> None:
    for secret in (text_of(40), f"{text_of(20)}/aB+{text_of(16)}"):
        assert mask_text(around.format(secret)) == around.format("[secret: aws-secret-key]")


def wrapped(text: str, width: int, line_end: str) -> str:
    return line_end.join(text[start : start + width] for start in range(0, len(text), width))


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\n    ", "\\\n", '"\n    "', "\\n"])
@pytest.mark.parametrize("width", [64, 76])
def test_a_key_in_base64_on_several_lines_is_masked(width: int, line_end: str) -> None:
    text = f'data: "{wrapped(ENCODED_KEY, width, line_end)}"\nnext: line\n'
    shown, (mask,) = find_and_mask(text)
    assert (mask.kind, shown.count("\n")) == ("private-key", text.count("\n"))
    assert shown.endswith("\nnext: line\n")
    # The markers are no secret.
    for start in range(44, len(ENCODED_KEY) - 60, 16):
        assert ENCODED_KEY[start : start + 16] not in shown


@pytest.mark.parametrize("mark", ["// ", "//", "-- ", "# ", "% ", "; ", " * ", "> "])
def test_a_clipped_key_in_a_comment_is_masked(mark: str) -> None:
    text = "".join(f"{mark}{line}\n" for line in key_block().splitlines()[:9])
    shown = mask_text(f"{text}\ndef function_with_a_long_name(): ...\n")
    assert not [line for line in key_block().splitlines()[1:9] if line[:20] in shown]
    assert shown.endswith("\ndef function_with_a_long_name(): ...\n")


def test_a_very_long_key_is_masked_to_its_end() -> None:
    lines = [text_of(64) for _ in range(600)]
    text = "\n".join(["-----BEGIN PRIVATE KEY" + "-----", *lines, "-----END PRIVATE KEY" + "-----", "after"])
    shown, masks = find_and_mask(text)
    assert len(masks) == 1
    assert not [line for line in lines if line in shown]
    assert shown.endswith("\n-----END PRIVATE KEY-----\nafter")


def test_a_putty_key_is_masked_with_its_code() -> None:
    shown, (mask,) = find_and_mask(f"text\n{putty_key()}after\n")
    assert (mask.kind, mask.start_line) == ("private-key", 2)
    assert not [word for word in putty_key().split() if len(word) >= 60 and word in shown]
    assert shown.endswith("\nafter\n")
