"""Secret content: text files that are not served because of what they contain, whatever their name is."""

import re

from keyhole.core.files.secret_names import original_name
from keyhole.core.masking import has_key_marker, has_private_key

# A key of 4,096 bits takes 3,300 characters, so a file up to this size that contains a key is little else. In a larger
# file the block is masked, and the rest is served.
SMALL_FILE = 4_000
_KEY_FILE = re.compile(r"\A\s*(?:-----BEGIN [A-Z ]*PRIVATE KEY|PuTTY-User-Key-File-[0-9]:)")
# A token that is written out; `${NPM_TOKEN}` is taken from the environment.
_YARN_TOKEN = re.compile(
    r"(?:npmAuth(?:Token|Ident)[\"']?\s*:|_(?:authToken|auth|password)[\"']?[\s=]+)\s*[\"']?[^\s\"'$]"
)


def secret_content(path: str, text: str) -> str:
    """Return why the content of a file is secret; empty if it is not."""
    if has_key_marker(text) and _is_key_file(path, text):
        return "contains a private key"
    if ".yarnrc" in path.casefold() and _name(path) in (".yarnrc", ".yarnrc.yml") and _YARN_TOKEN.search(text):
        return "contains a token"
    return ""


def _is_key_file(path: str, text: str) -> bool:
    if _KEY_FILE.match(text):
        return True
    return (len(text) <= SMALL_FILE or _name(path).endswith(".asc")) and has_private_key(text)


def _name(path: str) -> str:
    return original_name(path.rpartition("/")[2].casefold())
