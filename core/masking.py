"""Masking: replaces tokens of a fixed shape with a mask such as `[secret: github-token]`.

A mask never changes the number of lines. The shapes follow those of gitleaks and trufflehog and the documentation of
the vendors, in our own expressions. `sk-…` is used by several vendors and in ordinary names too, so only a long value
with high entropy counts. The example keys of the vendors' documentation are not masked.
"""

import re
from base64 import b64decode
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import zip_longest
from math import log2
from typing import Protocol

# The version of the masks; a change makes the next index run read every file again.
MASKING_VERSION = 3
# How Keyhole's own tokens for the server of a team look (core/team/access_tokens.py).
TEAM_TOKEN_PREFIX, TEAM_TOKEN_LENGTH = "keyhole_", 40

MASK_START = "[secret: "
PRIVATE_KEY = "private-key"
# Longer than any key of a common type: an RSA key of 16,384 bits takes 13,000 characters. In a longer block, only what
# looks like the lines of a key is masked.
_LONGEST_BLOCK = 20_000
# A block with less text than this between its markers is a placeholder, or code that looks for keys.
_SHORTEST_KEY = 40
# A generated key of this length has more bits per character than words have, or hexadecimal digits at least this many.
_SHORTEST_API_KEY, _LEAST_ENTROPY = 32, 3.0
# How much of a text is compared with a shape. Without a limit, a text full of false starts would take quadratic time.
# What follows in the same word is masked too.
_LONGEST_COMPARED = 512


@dataclass(frozen=True, slots=True)
class Mask:
    """A masked secret: its kind and the lines it was on."""

    start_line: int
    end_line: int
    kind: str


@dataclass(frozen=True, slots=True)
class _Shape:
    """How tokens of one kind look: how they start, the rest, and what must not follow.

    If `is_start_masked` is false, the start is the text before the secret, such as the name of a setting.
    """

    kind: str
    start: str
    rest: str
    admits: Callable[[str], bool] = lambda _: True
    is_start_masked: bool = True
    not_before: str = "[A-Za-z0-9]"

    def compiled(self) -> re.Pattern[str]:
        """Return an expression whose group is the part that is masked."""
        token = f"({self.start}{self.rest})" if self.is_start_masked else f"{self.start}({self.rest})"
        return re.compile(f"{token}(?!{self.not_before})")


class Matcher(Protocol):
    """The type of a compiled RE2 expression; the library has no types."""

    def search(self, text: bytes, /) -> object | None:
        """Return the first match, or None."""

    def finditer(self, text: str, /) -> Iterator[re.Match[str]]:
        """Yield every match in a text."""


def mask_text(text: str) -> str:
    """Return a text with every token masked."""
    return find_and_mask(text)[0]


def mask_address(url: str) -> str:
    """Return the address of a database without its password and options; only an ellipsis if it is not an address."""
    scheme, separator, rest = url.partition("://")
    login, at, place = rest.rpartition("@")
    user = login.partition(":")[0]
    return f"{scheme}://{user}{at}{place.partition('?')[0]}" if separator and scheme.isalpha() else "…"


def find_and_mask(text: str, encoded: bytes | None = None) -> tuple[str, tuple[Mask, ...]]:
    """Return a text with every token masked, and what was masked; `encoded` is the text in UTF-8, if it is known."""
    if encoded is None:
        encoded = text.encode("utf-8", "surrogatepass")
    # Most files have nothing to mask, and RE2 sees that in one quick pass.
    if _any_shape().search(encoded) is None:
        return text, ()
    spans = list(_spans(text))
    if not spans:
        return text, ()
    parts, masks, end, line = list[str](), list[Mask](), 0, 1
    for start, stop, kind in spans:
        between, secret = text[end:start], text[start:stop]
        line += between.count("\n")
        last = line + secret.count("\n")
        parts += [between, _key_mask(secret) if kind == PRIVATE_KEY else mask_of(kind)]
        masks.append(Mask(line, last, kind))
        end, line = stop, last
    return "".join([*parts, text[end:]]), tuple(masks)


def has_private_key(text: str) -> bool:
    """Return whether a text contains the block of a private key."""
    return has_key_marker(text) and next(_key_blocks(text), None) is not None


def has_key_marker(text: str) -> bool:
    """Return whether a text has the words that mark a private key; most have not, and this is quick."""
    return "PRIVATE KEY" in text or "PuTTY-User-Key-File" in text


def mask_of(kind: str) -> str:
    """Return the text that stands for a secret."""
    return f"{MASK_START}{kind}]"


def _spans(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield where secrets start and end, in order and without overlaps."""
    found = [*((start, stop, PRIVATE_KEY) for start, stop in _key_blocks(text)), *_tokens(text)]
    end = 0
    for start, stop, kind in sorted(found):
        if start >= end:
            yield start, stop, kind
            end = stop


# RE2 reads only valid text, and a placeholder keeps the positions.
_SURROGATE = re.compile("[\ud800-\udfff]")
# A token does not start inside a longer word, but may follow an escape: `\n`, `\x1b`, `\u00e9`, `%3D`.
_TOKEN_START = re.compile(
    r"(?<![A-Za-z0-9])|(?<=\\[nrtbfv0])|(?<=\\x[0-9A-Fa-f]{2})|(?<=\\u[0-9A-Fa-f]{4})|(?<=%[0-9A-Fa-f]{2})"
)
_REST_OF_TOKEN = re.compile(r"[A-Za-z0-9+/=_-]*")
# A shorter last line of base64 has only the end marker.
_REST_OF_KEY = re.compile(
    r"(?:[A-Za-z0-9+/=]+|(?:\\[nr]|[\s\"'+,\\]){1,40}(?=[A-Za-z0-9+/]{40,}={0,2}(?:[\s\"'\\,]|\Z)))*"
)


def _tokens(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield where tokens start and end. After a false start, the search continues right behind it."""
    end = 0
    for match in _any_start().finditer(_SURROGATE.sub("?", text)):
        token = _token_at(text, match.start()) if match.start() >= end else None
        if token:
            yield token
            end = token[1]


def _token_at(text: str, position: int) -> tuple[int, int, str] | None:
    is_start = _TOKEN_START.match(text, position) is not None
    limit = position + _LONGEST_COMPARED
    for shape, expression in _shapes():
        match = expression.match(text, position, limit) if is_start or not shape.is_start_masked else None
        if match and shape.admits(match[1]) and not _is_documented(match[1]):
            return match.start(1), _end_of_token(text, shape.kind, match.end(1), limit), shape.kind
    return None


def _end_of_token(text: str, kind: str, end: int, limit: int) -> int:
    rest = _REST_OF_KEY.match(text, end) if kind == PRIVATE_KEY else None
    rest = _REST_OF_TOKEN.match(text, end) if end == limit and not rest else rest
    return rest.end() if rest else end


# The keys that the vendors print in their documentation, without their prefix: AWS marks its own with a word.
_DOCUMENTED = (
    "EXAMPLE",
    "16C7e42F292c6912E7710c838347Ae178B4a",
    "1B4a2e77838347a7E420ce178F2E7c6912E1",
    "4eC39HqLyjWDarjtT1zdp7dc",
    "BQokikJOvBiI2HlWgH4olfQ2",
    "26PHem9AhJZvU623DfE1x4sd",
    "17653672481-19874698323-pdFZKVeTuE8sk7oOcHrzqqgy",
    "SyD-9tSrke72PouQMnMX-a7eZSW0jkFMBWY",
    "SyDaGmWKa4JsXZ-HjGw7ISLn_3namBGewQe",
)
_PLACEHOLDER = re.compile(r"[xX0*.]{8}")


def _is_documented(token: str) -> bool:
    return any(known in token for known in _DOCUMENTED) or _PLACEHOLDER.search(token) is not None


def _has_digits(count: int) -> Callable[[str], bool]:
    return lambda token: sum(map(str.isdigit, token)) >= count


def _is_key_id(token: str) -> bool:
    """Return whether the number of an AWS key looks generated; one in thirty has no digit, and few vowels then."""
    is_word = sum(token[4:].count(vowel) for vowel in "AEIOU") >= 6 or "ABCDEFGH" in token
    return any(map(str.isdigit, token)) or not is_word


def _is_secret_key(token: str) -> bool:
    """Return whether a value has the characters that 40 random ones have, and an identifier rarely has."""
    return _has_both_cases(token) and any(character.isdigit() or character == "+" for character in token)


def _is_stripe_key(token: str) -> bool:
    """Return whether a value is not made of words: it has digits, or many letters of both cases."""
    value = token[8:]
    fewer = min(sum(map(str.isupper, value)), sum(map(str.islower, value)))
    return any(map(str.isdigit, value)) or fewer * 4 >= len(value)


def _has_both_cases(text: str) -> bool:
    return any(map(str.isupper, text)) and any(map(str.islower, text))


# `sk-` and hexadecimal digits is a key only in the forms that vendors use; others are mostly names with a hash or UUID.
_HEX_KEY = re.compile(r"sk-(?:(?:or-v1-)?[0-9A-Fa-f]{32}|lf-[0-9a-f]{8}-)")
_HEX = re.compile("[0-9A-Fa-f]*")


def _is_generated(token: str) -> bool:
    """Return whether a value after `sk-` looks generated: long, dense, and not made of words."""
    longest = max(re.findall("[A-Za-z0-9]{12,}", token[3:]), key=len, default="")
    if _HEX.fullmatch(longest) and not _HEX_KEY.match(token):
        return False
    is_mixed = any(map(str.isdigit, longest)) and any(map(str.isalpha, longest))
    return is_mixed and len(token) - 3 >= _SHORTEST_API_KEY and _entropy(token[3:]) >= _LEAST_ENTROPY


def _entropy(text: str) -> float:
    """Return the bits per character."""
    shares = [text.count(character) / len(text) for character in set(text)]
    return -sum(share * log2(share) for share in shares)


def _is_encoded_key(token: str) -> bool:
    """Return whether base64 text contains the block of a private key."""
    return b"PRIVATE KEY" in b64decode(token[:52])


# What may stand between the name of a setting and its value, in code, settings, XML, Dockerfiles and Kubernetes.
_QUOTES = r"[\"'`\s\\\])]{0,40}"
_TYPE = r":\s{0,9}[A-Za-z&][\w&'. <>|?\[\]]{0,30}="
_NAMED_VALUE = r",?[\"'\s]{0,40}(?i:value)[\"'\s]{0,9}[:=]"
_ASSIGNED = rf"(?:\s|{_QUOTES}(?:{_TYPE}|{_NAMED_VALUE}|=>|:=|:-|[:=,>])){_QUOTES}"
_CALL_OR_REST = r"[A-Za-z0-9/+=(\[]"

_SHAPES = (
    _Shape("aws-access-key", "A[KS]IA", "[A-Z0-9]{16}", admits=_is_key_id),
    _Shape("aws-access-key", "A(?:BIA|CCA|3T[A-Z0-9])", "[A-Z0-9]{16}", admits=_has_digits(2)),
    _Shape(
        "aws-secret-key",
        f"(?i:aws[_-]?(?:secret[_-]?key|session[_-]?token)|secret[_-]?access[_-]?key){_ASSIGNED}",
        "[A-Za-z0-9/+]{40}[A-Za-z0-9/+=]*",
        admits=_is_secret_key,
        is_start_masked=False,
        not_before=_CALL_OR_REST,
    ),
    # Terraform's name, which others use for values of other lengths.
    _Shape(
        "aws-secret-key",
        f"(?i:secret_key){_ASSIGNED}",
        "[A-Za-z0-9/+]{40}",
        admits=_is_secret_key,
        is_start_masked=False,
        not_before=_CALL_OR_REST,
    ),
    _Shape("github-token", "gh[opsur]_", "[A-Za-z0-9]{36}[A-Za-z0-9_]*"),
    _Shape("github-token", "github_pat_", "[A-Za-z0-9_]{50,}"),
    _Shape("gitlab-token", "glpat-", r"[A-Za-z0-9_-]{20,}(?:\.[A-Za-z0-9.]+)?", admits=_has_digits(1)),
    _Shape("slack-token", r"xox[a-z](?:\.xox[a-z])?-", "[A-Za-z0-9-]{15,}", admits=_has_digits(6)),
    _Shape("slack-token", "xapp-[0-9]-", "[A-Z0-9]{8,}-[0-9]+-[A-Za-z0-9]{16,}"),
    _Shape(
        "slack-webhook",
        r"hooks\.slack\.com/(?:services|workflows|triggers)/",
        "[A-Za-z0-9/+_-]{30,}",
        is_start_masked=False,
    ),
    _Shape("stripe-key", "[sr]k_(?:live|test|prod)_", "[A-Za-z0-9]{20,}", admits=_is_stripe_key),
    _Shape("stripe-key", "[sr]k_(?:live|test|prod)_", "[A-Za-z0-9]{10,19}", admits=_has_digits(2)),
    _Shape("stripe-key", "whsec_", "[A-Za-z0-9+/]{24,}={0,2}", admits=_has_digits(1)),
    _Shape("google-api-key", "AIza", "[A-Za-z0-9_-]{35}"),
    _Shape("google-oauth-secret", "GOCSPX-", "[A-Za-z0-9_-]{28}"),
    _Shape("google-oauth-token", r"ya29\.", "[A-Za-z0-9_-]{30,}"),
    _Shape("npm-token", "npm_", "[A-Za-z0-9]{36}"),
    _Shape("pypi-token", "pypi-AgEI", "[A-Za-z0-9_-]{50,}"),
    _Shape("keyhole-token", TEAM_TOKEN_PREFIX, f"[A-Za-z0-9]{{{TEAM_TOKEN_LENGTH}}}"),
    _Shape("api-key", "sk-", "[A-Za-z0-9_-]{32,}", admits=_is_generated),
    _Shape(PRIVATE_KEY, "LS0tLS1CRUdJTiB", "[A-Za-z0-9+/]{40,}={0,2}", admits=_is_encoded_key),
)
# A key block has one of these; its lines are found by other means.
_KEY_HINT = "PRIVATE KEY|PuTTY-User-Key-File"


@cache
def _shapes() -> tuple[tuple[_Shape, re.Pattern[str]], ...]:
    return tuple((shape, shape.compiled()) for shape in _SHAPES)


@cache
def _any_shape() -> Matcher:
    """Return an expression that finds out whether a text may have something of any shape."""
    return _any_of([*(shape.start + shape.rest for shape in _SHAPES), _KEY_HINT])


@cache
def _any_start() -> Matcher:
    """Return an expression that finds where something of any shape may start."""
    return _any_of([shape.start for shape in _SHAPES])


def _any_of(expressions: list[str]) -> Matcher:
    import re2

    matcher: Matcher = re2.compile("|".join(expressions))
    return matcher


# The markers of PEM, OpenPGP, SSH2 and PuTTY.
_KEY_MARKER = re.compile(
    r"(?P<start>-{4,5} ?BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}"
    r"|PuTTY-User-Key-File-[0-9]:(?: [a-z0-9-]{1,40})?)"
    r"|-{4,5} ?END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}"
    r"|(?P<code>Private-(?:MAC|Hash):\s?[0-9a-f]*)"
)
# `\n` is a line end in a string of most languages.
_KEY_TEXT = re.compile(r"\\[nrt]|[A-Za-z0-9+/=]+")
_KEY_LINES = re.compile(
    r"(?:\s|\\[nr]|\\(?=\r?\n)|[\"'`+,.;#*>|%]|/{2,3}|--(?=\s)|[A-Za-z-]{1,40}: [^\n]*"
    r"|(?<![A-Za-z0-9])[A-Za-z0-9+/=]{16,})*"
)


def _key_blocks(text: str) -> Iterator[tuple[int, int]]:
    """Yield where the content of private keys starts and ends, between the markers."""
    if "KEY" not in text and "PuTTY" not in text:
        return
    markers = list(_KEY_MARKER.finditer(text))
    for marker, following in zip_longest(markers, markers[1:]):
        if not marker["start"]:
            continue
        start = marker.end()
        limit = following.start() if following else len(text)
        if following and not following["start"] and limit <= start + _LONGEST_BLOCK:
            # The code at the end of a PuTTY key is made from the key.
            limit = following.end("code") if following["code"] else limit
        else:
            # The end is missing or far away: the block was clipped, or is very long, or this is only a marker.
            inside = _KEY_LINES.match(text, start, limit)
            limit = inside.end() if inside else start
        if sum(len(run) for run in _KEY_TEXT.findall(text, start, limit) if len(run) >= 12) >= _SHORTEST_KEY:
            yield start, limit


def _key_mask(block: str) -> str:
    """Return a block without the key: line ends, quotes and other marks of the source around it stay."""
    is_first = True

    def masked(match: re.Match[str]) -> str:
        nonlocal is_first
        if match[0].startswith("\\"):
            return match[0]
        mask, is_first = mask_of(PRIVATE_KEY) if is_first else "", False
        return mask

    return _KEY_TEXT.sub(masked, block)
