"""Secrets made at run time: random tokens of every shape that Keyhole masks, never written in the repository."""

import base64
import random
import string
from collections.abc import Iterable
from functools import cache

_LETTERS = string.ascii_letters + string.digits
_UPPER = string.ascii_uppercase + "234567"
# A seed makes failures repeatable; the tokens still look like real ones.
_RANDOM = random.Random(20)


def text_of(length: int, alphabet: str = _LETTERS) -> str:
    """Return random characters, with at least one digit among the first ones if the alphabet has digits."""
    digits = [character for character in alphabet if character.isdigit()]
    head = _RANDOM.choice(digits) if digits else ""
    return head + "".join(_RANDOM.choices(alphabet, k=length - len(head)))


@cache
def key_block(kind: str = "RSA PRIVATE KEY") -> str:
    """Return a block such as that of a private key, with random content."""
    lines = [text_of(64, f"{_LETTERS}+/") for _ in range(12)]
    return "\n".join([f"-----BEGIN {kind}-----", *lines, f"{text_of(30)}==", f"-----END {kind}-----", ""])


@cache
def putty_key() -> str:
    """Return a key in the format of PuTTY, with random content."""
    lines = [text_of(64, f"{_LETTERS}+/") for _ in range(14)]
    head = ["PuTTY-User-Key-File" + "-3: ssh-rsa", "Encryption: none", "Comment: a key", "Public-Lines: 6", *lines[:6]]
    mac = text_of(64, "0123456789abcdef")
    return "\n".join([*head, "Private-Lines: 8", *lines[6:], f"Private-MAC: {mac}", ""])


def _tokens() -> Iterable[tuple[str, str, str]]:
    digits, dashed = string.digits, f"{_LETTERS}_-"
    yield "aws-access-key", "AK" + "IA", text_of(16, _UPPER)
    yield "aws-access-key", "AS" + "IA", text_of(16, _UPPER)
    yield "aws-secret-key", "", text_of(40)
    for letter in "posur":
        yield "github-token", f"gh{letter}_", text_of(36)
    yield "github-token", "github" + "_pat_", f"{text_of(22)}_{text_of(59)}"
    yield "gitlab-token", "gl" + "pat-", text_of(20)
    yield "slack-token", "xo" + "xb-", f"{text_of(12, digits)}-{text_of(12, digits)}-{text_of(24)}"
    yield "slack-token", "xo" + "xp-", "-".join([*(text_of(12, digits) for _ in range(3)), text_of(32)])
    yield "slack-token", "xa" + "pp-1-", f"{text_of(11, _UPPER)}-{text_of(13, digits)}-{text_of(64)}"
    yield "slack-webhook", "", f"T{text_of(9, _UPPER)}/B{text_of(9, _UPPER)}/{text_of(24)}"
    for prefix in ("sk_" + "live_", "rk_" + "live_", "sk_" + "test_"):
        yield "stripe-key", prefix, text_of(24)
    yield "stripe-key", "wh" + "sec_", text_of(32)
    yield "google-api-key", "AI" + "za", text_of(35, dashed)
    yield "google-oauth-secret", "GOC" + "SPX-", text_of(28)
    yield "google-oauth-token", "ya" + "29.", text_of(60)
    yield "npm-token", "np" + "m_", text_of(36)
    yield "pypi-token", "pypi-" + "AgEI", text_of(70)
    yield "keyhole-token", "keyhole" + "_", text_of(40)
    yield "api-key", "sk" + "-", text_of(48)
    yield "api-key", "sk" + "-proj-", text_of(80, dashed)
    yield "api-key", "sk" + "-", text_of(32, "0123456789abcdef")


# The kind, the whole token, and the part of it that is random and must not be found anywhere.
CANARIES = tuple((kind, prefix + secret, secret) for kind, prefix, secret in _tokens())
ENCODED_KEY = base64.b64encode(key_block().encode()).decode()
