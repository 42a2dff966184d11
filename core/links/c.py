"""Resolving includes of C and C++: to a header next to the file, or to the only header that matches."""

from collections.abc import Iterator
from functools import cached_property

from keyhole.core.links.link_types import Origin, Reason, Resolution, external, internal, unresolved
from keyhole.core.links.paths import Paths, basename, join, parents

_INCLUDE_FOLDERS = ("", "include", "inc", "src", "lib", "source")
# The standard headers of compilers. A workspace may contain replacements with the same names, but only its build
# knows when they are used.
_STANDARD = frozenset(
    """assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal stdalign stdarg stdatomic
    stdbit stdbool stdckdint stddef stdint stdio stdlib stdnoreturn string tgmath threads time uchar wchar wctype unistd
    fcntl pthread dirent dlfcn glob grp netdb poll pwd regex sched semaphore spawn strings syslog termios utime windows
    malloc memory alloca endian byteswap execinfo getopt libgen search ftw langinfo iconv nl_types ucontext utmpx
    wordexp io
    direct process winsock2 ws2tcpip conio crtdbg tchar shlobj shellapi""".split()  # noqa: SIM905
)


class Includes:
    """Resolves includes against the headers of a workspace."""

    def __init__(self, paths: Paths) -> None:
        self._paths = paths

    def resolve(self, origin: Origin, target: str, _: str) -> Resolution:
        """Resolve a header, given with its quotes or angle brackets."""
        is_quoted, name = target.startswith('"'), target[1:-1].replace("\\", "/")
        beside = join(origin.folder, name)
        if is_quoted and beside and beside in self._paths:
            return internal(beside)
        if not is_quoted and _is_standard(name):
            return external(_site(name))
        found = self._candidates(origin, name, is_quoted=is_quoted)
        if len(found) == 1:
            return internal(found.pop())
        if found:
            return unresolved(Reason.AMBIGUOUS)
        if not is_quoted or _is_standard(name):
            return external(_site(name))
        return unresolved(Reason.MISSING_FILE)

    def _candidates(self, origin: Origin, name: str, *, is_quoted: bool) -> set[str]:
        """Return the files that a compiler may find: those in folders that look like its search path.

        For a quoted include without such files, return every file whose path ends in the name.
        """
        if name.startswith("."):
            return set()
        ending = self._paths.ending_in(name)
        if is_quoted and len(ending) == 1:
            return set(ending)
        searched = {path for path in ending if path[: len(path) - len(name)].rstrip("/") in self._include_folders}
        near = {f"{folder}/{name}".lstrip("/") for folder in _search_path(origin)} & set(ending)
        return near or searched or (set(ending) if is_quoted else set())

    @cached_property
    def _include_folders(self) -> frozenset[str]:
        return frozenset(folder for folder in self._paths.folders if basename(folder) in ("include", "inc"))


def _search_path(origin: Origin) -> Iterator[str]:
    for above in parents(origin.path):
        yield from (folder for name in _INCLUDE_FOLDERS if (folder := join(above, name)) is not None)


def _is_standard(name: str) -> bool:
    if name.startswith(("sys/", "netinet/", "arpa/", "net/", "linux/", "machine/")):
        return True
    # The standard headers of C++ have no extension.
    return "/" not in name and (name.removesuffix(".h") in _STANDARD if name.endswith(".h") else "." not in name)


def _site(name: str) -> str:
    return name.partition("/")[0]
