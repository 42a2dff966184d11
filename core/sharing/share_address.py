"""Where the shared server of a user and of these settings listens.

A server is found by a key of everything that its answers may depend on besides the workspace: the installation, the
user's settings, and some environment variables. Clients for which one of them differs have another server.
"""

import os
import stat
import sys

# Looking up the version of the package would take longer than all the rest; a test compares the two.
VERSION = "0.1.0"
# Windows has no sockets in folders that Python can use; there the server listens on the loopback address.
USES_LOOPBACK = os.name == "nt"

# Variables that say where settings and caches are, and those that change what Python and libraries do.
_KEY_VARIABLES = frozenset(
    ["HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "APPDATA", "LOCALAPPDATA", "USERPROFILE", "LD_LIBRARY_PATH"]
)
_KEY_PREFIXES = ("KEYHOLE_", "PYTHON", "HF_", "PG")
# A token is only for HTTP, and whether to share decides whether there is a key at all.
_NOT_IN_KEY = frozenset(["KEYHOLE_TOKEN", "KEYHOLE_SHARE"])
# The system's limit on the path of a socket is 108 bytes on Linux and 104 on macOS, with a zero at the end.
_LONGEST_SOCKET = 103
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


class UnsharedError(Exception):
    """There is no shared server for this client; it is served alone."""


class DeclinedError(UnsharedError):
    """The server does not take this client; what it says when it is served alone explains why."""


class ShareAddress:
    """The files of one shared server."""

    def __init__(self, folder: str, key: str, version: str = VERSION) -> None:
        self.folder = folder
        self.key = key
        self.version = version
        base = os.path.join(folder, f"{key}-{version}")  # noqa: PTH118  # pathlib takes too long to import
        # On Windows, a file with the port and the tokens.
        self.socket = f"{base}.sock"
        self.commands = f"{base}.cmd"
        self.lock = f"{base}.lock"
        self.log = f"{base}.log"

    def newer(self) -> "list[ShareAddress]":
        """Return the servers of newer versions with the same settings, running or not."""
        ours = _numbers(self.version)
        found = _addresses_in(self.folder)
        return [other for other in found if other.key == self.key and _numbers(other.version) > ours]


def find_address() -> ShareAddress:
    """Return where the server of this user and these settings listens, or raise UnsharedError."""
    key = settings_key()
    problem = ""
    for parent, name in _folders():
        address = ShareAddress(os.path.join(parent, name), key)  # noqa: PTH118
        if len(os.fsencode(address.socket)) > _LONGEST_SOCKET and not USES_LOOPBACK:
            problem = f"the path {address.folder} is too long for a socket"
            continue
        try:
            _make_private(parent, address.folder)
        except (OSError, UnsharedError) as error:
            problem = str(error)
            continue
        return address
    raise UnsharedError(problem)


def all_addresses() -> "list[ShareAddress]":
    """Return the addresses of this user's servers, with any settings and of any version, running or not."""
    found: list[ShareAddress] = []
    for parent, name in dict.fromkeys(_folders()):
        folder = os.path.join(parent, name)  # noqa: PTH118
        try:
            _check_private(folder)
            found += _addresses_in(folder)
        except (OSError, UnsharedError):
            # There is none, or it is not this user's.
            continue
    return found


def _addresses_in(folder: str) -> "list[ShareAddress]":
    end = ".sock"
    names = [name[: -len(end)].partition("-") for name in sorted(os.listdir(folder)) if name.endswith(end)]  # noqa: PTH208
    return [ShareAddress(folder, key, version) for key, _, version in names]


def settings_key() -> str:
    """Return a hash of everything that answers may depend on besides the workspace."""
    from _blake2 import blake2b  # hashlib would load OpenSSL

    package = os.path.dirname(os.path.dirname(os.path.dirname(__file__)))  # noqa: PTH120
    variables = (
        f"{name}={value}"
        for name, value in sorted(os.environ.items())
        if (name in _KEY_VARIABLES or name.startswith(_KEY_PREFIXES)) and name not in _NOT_IN_KEY
    )
    facts = [sys.executable, package, str(_user()), *variables]
    digest = blake2b("\0".join(facts).encode("utf-8", "surrogateescape"), digest_size=8)
    digest.update(b"\0" + user_settings())
    return digest.hexdigest()


def user_settings() -> bytes:
    """Return the content of the user's settings file; empty if there is none."""
    try:
        with open(user_file_path(), "rb") as file:  # noqa: PTH123
            return file.read()
    except OSError:
        return b""


def user_file_path() -> str:
    """Return the path of the user's settings file, as core/user_file.py does with a library that takes long to load."""
    if sys.platform == "win32":
        base = os.path.join(os.environ.get("LOCALAPPDATA", ""), "keyhole")  # noqa: PTH118
    elif sys.platform == "darwin":
        base = os.path.expanduser("~/Library/Application Support")  # noqa: PTH111
    else:
        base = os.environ.get("XDG_CONFIG_HOME", "").strip() or os.path.expanduser("~/.config")  # noqa: PTH111
    return os.path.join(base, "keyhole", "config.toml")  # noqa: PTH118


def is_share_wanted() -> bool:
    """Return whether the user lets clients share a server: KEYHOLE_SHARE, or `share` in the user's settings file."""
    variable = os.environ.get("KEYHOLE_SHARE", "")
    if variable:
        return variable.lower() not in ("0", "false", "no", "off", "f", "n")
    content = user_settings()
    if b"share" not in content:
        return True
    import tomllib

    try:
        return tomllib.loads(content.decode("utf-8")).get("share", True) is not False
    except ValueError:
        # Whoever reads the settings next explains what is wrong with them.
        return False


def _folders() -> "list[tuple[str, str]]":
    """Return where the folder of sockets may be: a folder that is there already, and a name."""
    if USES_LOOPBACK:
        return [(os.environ.get("LOCALAPPDATA") or os.path.expanduser("~"), "keyhole-share")]  # noqa: PTH111
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    temporary = os.environ.get("TMPDIR") or "/tmp"  # noqa: S108  # a folder that only its owner may enter is made there
    return [
        *([(runtime, "keyhole")] if runtime.startswith("/") else []),
        (temporary, f"keyhole-{_user()}"),
        ("/tmp", f"keyhole-{_user()}"),  # noqa: S108
    ]


def _make_private(parent: str, folder: str) -> None:
    """Make the folder of sockets if there is none, and raise UnsharedError if others could change it."""
    if not USES_LOOPBACK:
        above = os.stat(parent)  # noqa: PTH116
        is_ours = above.st_uid in (0, _user()) and (not above.st_mode & stat.S_IWOTH or above.st_mode & stat.S_ISVTX)
        if not is_ours:
            raise UnsharedError(f"other users can change {parent}")
    try:  # noqa: SIM105  # importing contextlib takes long
        os.mkdir(folder, stat.S_IRWXU)  # noqa: PTH102
    except FileExistsError:
        pass
    _check_private(folder)


def _check_private(folder: str) -> None:
    found = os.lstat(folder)
    if not stat.S_ISDIR(found.st_mode):
        raise UnsharedError(f"{folder} is not a folder")
    if not USES_LOOPBACK and (found.st_uid != _user() or found.st_mode & _OTHERS):
        raise UnsharedError(f"other users can enter {folder}")


def _user() -> int:
    return os.geteuid() if hasattr(os, "geteuid") else 0


def _numbers(version: str) -> list[int]:
    """Return the numbers of a version, to compare it; letters count as ends."""
    parts = []
    for part in version.split("."):
        digits = part[: len(part) - len(part.lstrip("0123456789"))]
        if not digits:
            break
        parts.append(int(digits))
    return parts
