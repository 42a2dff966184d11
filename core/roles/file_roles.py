"""The role of each file of a workspace, by names, content and neighbours.

A name alone does not decide. `test` is a folder of tests next to sources, but a package inside them; `lib` is built if
it repeats `src`, and source otherwise. So roles are found for all files together, and again when paths or hints change.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from keyhole.core.roles import role_names as names
from keyhole.core.roles.content_hint import SHOWS_TESTS, Hint
from keyhole.core.syntax.languages import BY_ID, detect_language
from keyhole.core.types.choices import Role

# If a folder with one of these roles is inside another, the first in this list decides: the tests of a vendored project
# are vendored, and the examples in the documentation are examples.
_STRONGEST_FIRST = (
    Role.VENDORED,
    Role.BUILT,
    Role.FIXTURE,
    Role.TEST,
    Role.GENERATED,
    Role.EXAMPLE,
    Role.LOCALE,
    Role.DOCS,
    Role.CONFIG,
    Role.DATA,
    Role.SOURCE,
)
_STRENGTH = {role: -number for number, role in enumerate(_STRONGEST_FIRST)}
# The share of test files that makes a folder inside sources a folder of tests.
_TEST_SHARE = 0.3
# The share of files that a build folder has in common with the sources next to it.
_BUILT_SHARE = 0.5
_FEWEST_BUILT = 2
_SCRIPTS = names.JAVASCRIPT | {"css"}


_ROLES_OF_FOLDERS = {
    **dict.fromkeys(names.GENERATED_FOLDERS, Role.GENERATED),
    **dict.fromkeys(names.EXAMPLE_FOLDERS, Role.EXAMPLE),
    **dict.fromkeys(names.DOC_FOLDERS, Role.DOCS),
    **dict.fromkeys(names.LOCALE_FOLDERS, Role.LOCALE),
    **dict.fromkeys(names.DATA_FOLDERS, Role.DATA),
}


# Looking a role up is faster than making it from its name, and a search does it for each candidate.
_BY_NAME = {role.value: role for role in Role}


class RoleFacts(NamedTuple):
    """What is known of a file; the hint is empty if its text has not been looked at."""

    path: str
    language: str
    hint: str = ""


class _Place(NamedTuple):
    """What the folders around a file say: a role, and whether they are inside sources or a package of Java."""

    role: Role = Role.SOURCE
    is_inside_sources: bool = False
    # Below src/main/java, folders are the parts of a package's name.
    is_package: bool = False
    # Inside a folder of translations: the folder of one language.
    is_language: bool = False


def file_roles(files: Sequence[RoleFacts]) -> list[Role]:
    """Return the role of each file, in the same order; it depends on nothing but these facts."""
    folders = _Folders(files)
    return [folders.role_of(file) for file in files]


@lru_cache(maxsize=100_000)
def role_by_path(path: str) -> Role:
    """Return the most likely role of a file of which only the path is known."""
    return _Folders([]).role_of(RoleFacts(path, detect_language(path, "").id))


def known_role(role: str, path: str) -> Role:
    """Return the recorded role of a file, or the most likely one if none is recorded yet."""
    return _BY_NAME[role] if role else role_by_path(path)


class _Folders:
    """The folders of a workspace, and what each says about the files in it."""

    def __init__(self, files: Sequence[RoleFacts]) -> None:
        self._is_alone = not files
        self._files: dict[str, list[RoleFacts]] = defaultdict(list)
        for file in files:
            self._files[_split(file.path)[0]].append(file)
        self._subfolders: dict[str, set[str]] = defaultdict(set)
        for folder in list(self._files):
            self._add_parents(folder)
        self._holders = self._copyright_holders()
        self._places: dict[str, _Place] = {"": _Place()}
        self._packages_about_docs: dict[str, bool] = {}

    def _add_parents(self, folder: str) -> None:
        while folder:
            parent, name = _split(folder)
            if name in self._subfolders[parent]:
                return
            self._subfolders[parent].add(name)
            folder = parent

    # Folders

    def _place(self, folder: str) -> _Place:
        missing = []
        while folder not in self._places:
            missing.append(folder)
            folder = _split(folder)[0]
        place = self._places[folder]
        for inner in reversed(missing):
            place = self._places[inner] = self._inside(place, inner)
        return place

    def _inside(self, outer: _Place, folder: str) -> _Place:
        """Return what a folder says, given what the folder around it says."""
        parent, name = _split(folder)
        if outer.is_package or self._is_main_source_set(parent, name):
            return outer._replace(is_package=True, is_inside_sources=True)
        own = self._role_of_folder(outer, parent, folder, name)
        lowered = _plain(name)
        return _Place(
            role=max(own, outer.role, key=_STRENGTH.__getitem__),
            is_inside_sources=outer.is_inside_sources or lowered in names.SOURCE_FOLDERS or self._is_module(folder),
            is_language=outer.role == Role.LOCALE and (outer.is_language or bool(names.ANY_LANGUAGE.fullmatch(name))),
        )

    def _role_of_folder(self, outer: _Place, parent: str, folder: str, name: str) -> Role:
        lowered = _plain(name)
        if lowered in names.VENDOR_FOLDERS or self._is_vendored(outer, parent, folder, lowered):
            return Role.VENDORED
        if lowered in names.BUILD_FOLDERS and self._is_built(parent, folder, lowered):
            return Role.BUILT
        if lowered in names.FIXTURE_FOLDERS:
            return Role.FIXTURE
        if outer.role == Role.TEST:
            return Role.FIXTURE if lowered in names.TEST_DATA_FOLDERS else Role.TEST
        if self._is_for_tests(outer, parent, folder, name):
            return Role.TEST
        return self._role_by_other_names(outer, name)

    def _role_by_other_names(self, outer: _Place, name: str) -> Role:
        plain = _plain(name)
        if outer.role == Role.DOCS and names.LANGUAGE_FOLDER.fullmatch(name):
            return Role.LOCALE
        if outer.is_inside_sources and (plain in names.DOC_FOLDERS or name.startswith(".")):
            return Role.SOURCE
        if name.startswith("."):
            return Role.CONFIG
        return Role.LOCALE if plain.endswith(".lproj") else _ROLES_OF_FOLDERS.get(plain, Role.SOURCE)

    def _is_main_source_set(self, parent: str, name: str) -> bool:
        """Return whether a folder is the `java` of src/main/java, or of src/commonMain/kotlin."""
        outer, source_set = _split(parent)
        if _split(outer)[1] != "src" or name not in ("java", "kotlin", "scala", "groovy"):
            return False
        return names.MAIN_SOURCE_SET.fullmatch(source_set) is not None

    def _is_module(self, folder: str) -> bool:
        """Return whether a folder is a package of Python."""
        return any(file.path.endswith("/__init__.py") for file in self._files.get(folder, ()))

    def _is_for_tests(self, outer: _Place, parent: str, folder: str, name: str) -> bool:
        lowered = _plain(name)
        if lowered in names.TEST_FOLDERS:
            return not outer.is_inside_sources or self._share_of_tests(folder) > 0
        if lowered in names.TEST_WORDS:
            return self._is_beside_sources(outer, parent) or self._share_of_tests(folder) >= _TEST_SHARE
        if lowered in names.TESTING_WORDS:
            return self._share_of_tests(folder) >= _TEST_SHARE
        if _split(parent)[1] == "src" and names.TEST_SOURCE_SET.fullmatch(name):
            return True
        is_own_project = not outer.is_inside_sources or self._is_project(folder)
        return is_own_project and names.TEST_PROJECT.fullmatch(name) is not None

    def _is_beside_sources(self, outer: _Place, parent: str) -> bool:
        """Return whether a folder is where a project usually has its tests."""
        if not parent or not outer.is_inside_sources:
            return True
        beside = {_plain(name) for name in self._subfolders.get(parent, ())}
        # In src/test and src/main, `src` is not a package.
        return not beside.isdisjoint(names.CODE_FOLDERS | {"main"}) or self._is_project(parent)

    def _is_project(self, folder: str) -> bool:
        return any(names.is_package_file(_split(file.path)[1]) for file in self._files.get(folder, ()))

    def _share_of_tests(self, folder: str) -> float:
        """Return the share of code files that are tests; 1 if that can't be seen in their language."""
        if self._is_alone:
            return 1.0
        code = [file for file in self._all_in(folder) if BY_ID[file.language].is_code and not _is_marker(file.path)]
        tests = sum(1 for file in code if file.language not in SHOWS_TESTS or _is_test(file))
        return tests / len(code) if code else 1.0

    def _is_built(self, parent: str, folder: str, name: str) -> bool:
        """Return whether a folder is the output of a build: it repeats sources next to it, or shows it by content."""
        if name == "dist" and (not parent or self._is_project(parent)):
            return True
        files = [file for file in self._all_in(folder) if file.language in _SCRIPTS]
        if len(files) < _FEWEST_BUILT:
            return False
        if sum(1 for file in files if file.hint == Hint.BUILT) >= _BUILT_SHARE * len(files):
            return True
        sources = {
            _without_ending(file.path, source)
            for source in (_joined(parent, other) for other in self._subfolders[parent] & names.BUILT_FROM)
            for file in self._all_in(source)
            if source != folder
        }
        repeated = sum(1 for file in files if _without_ending(file.path, folder) in sources)
        return repeated >= _BUILT_SHARE * len(files)

    def _is_vendored(self, outer: _Place, parent: str, folder: str, name: str) -> bool:
        """Return whether a folder is a copy of another project."""
        if name in names.VENDOR_WORDS:
            return not outer.is_inside_sources
        holders = self._holders.get(folder)
        if not holders or outer.role in (Role.TEST, Role.FIXTURE) or _split(parent)[1].lower() in names.MEMBER_FOLDERS:
            return False
        # Code that was taken over into a package of the project's own may keep its licence.
        if self._is_module(folder) and self._is_module(parent):
            return False
        own = self._holders.get("", frozenset())
        return bool(own) and own.isdisjoint(holders)

    def _copyright_holders(self) -> dict[str, frozenset[str]]:
        """Return the copyright holders of each folder with a licence that names some."""
        found: dict[str, frozenset[str]] = {}
        for folder, files in self._files.items():
            for file in files:
                if file.hint.startswith(Hint.LICENCE):
                    holders = frozenset(file.hint.partition(":")[2].split())
                    found[folder] = found.get(folder, frozenset()) | holders
        return {folder: holders for folder, holders in found.items() if holders}

    def _all_in(self, folder: str) -> Iterator[RoleFacts]:
        pending = [folder]
        while pending:
            inner = pending.pop()
            yield from self._files.get(inner, ())
            pending += [_joined(inner, name) for name in self._subfolders.get(inner, ())]

    # Files

    def role_of(self, file: RoleFacts) -> Role:
        """Return the role of one file."""
        folder, name = _split(file.path)
        place = self._place(folder)
        is_document = names.is_document(name, file.language)
        return (
            _role_by_folder(file, place, name, is_document=is_document)
            or _role_by_own_name(file, place, name)
            or (_role_of_document(file, place, name) if is_document else None)
            or self._role_by_kind(file, place, folder, name)
        )

    def _role_by_kind(self, file: RoleFacts, place: _Place, folder: str, name: str) -> Role:
        """Return the role of a file that is no document, and whose name alone does not give one."""
        if Role.GENERATED in (place.role, file.hint) or names.is_generated_name(name):
            return Role.GENERATED
        if place.role == Role.EXAMPLE:
            return Role.EXAMPLE
        if place.role == Role.DOCS:
            return self._role_in_docs(file, folder)
        if names.is_translation_name(name) or (place.role == Role.LOCALE and _is_locale(file, place, name)):
            return Role.LOCALE
        return _role_of_settings(file, place)

    def _role_in_docs(self, file: RoleFacts, folder: str) -> Role:
        """Return the role of a file in a folder of documentation that is no document."""
        if file.hint == Hint.DATA or file.language == "csv":
            return Role.DATA
        if file.language in names.SETTINGS:
            return Role.CONFIG
        if file.language in names.MARKUP:
            return Role.DOCS
        if folder not in self._packages_about_docs:
            self._packages_about_docs[folder] = self._is_code_about_docs(folder)
        return Role.SOURCE if self._packages_about_docs[folder] else Role.EXAMPLE

    def _is_code_about_docs(self, folder: str) -> bool:
        """Return whether a folder `doc` is a package: it has a file of Go, or more code than documents."""
        if _split(folder)[1].lower() not in names.DOC_FOLDERS:
            return False
        files = self._files.get(folder, ())
        code = [
            file for file in files if BY_ID[file.language].is_code and not names.is_settings_name(_split(file.path)[1])
        ]
        documents = sum(1 for file in self._all_in(folder) if names.is_document(_split(file.path)[1], file.language))
        return any(file.language == "go" for file in code) or len(code) > documents


def _role_by_folder(file: RoleFacts, place: _Place, name: str, *, is_document: bool) -> Role | None:
    """Return the role of every file in folders for other projects, built files and tests; None elsewhere."""
    if place.role == Role.BUILT:
        return Role.DOCS if is_document else Role.BUILT
    if place.role == Role.TEST:
        if is_document and names.is_read_first(name):
            return Role.DOCS
        is_code = BY_ID[file.language].is_code or names.is_settings_name(name)
        return Role.TEST if is_code or names.is_test_name(name, file.language) else Role.FIXTURE
    return place.role if place.role in (Role.VENDORED, Role.FIXTURE) else None


def _role_by_own_name(file: RoleFacts, place: _Place, name: str) -> Role | None:
    if file.language in _SCRIPTS and names.is_release_name(name):
        return Role.VENDORED
    if file.hint == Hint.BUILT or (file.language in _SCRIPTS and names.is_built_name(name)):
        return Role.BUILT
    # Below src/main/java, a class whose name ends with Test is part of a library for tests.
    if not place.is_package and names.is_test_name(name, file.language) and _may_be_test(file):
        return Role.TEST
    return Role.CONFIG if file.hint != Hint.GENERATED and _is_settings(place, name) else None


def _role_of_document(file: RoleFacts, place: _Place, name: str) -> Role:
    if names.is_translation_name(name) or place.role == Role.LOCALE:
        return Role.LOCALE
    return Role.DATA if file.hint == Hint.DATA else Role.DOCS


def _role_of_settings(file: RoleFacts, place: _Place) -> Role:
    """Return whether a file is data, settings or source."""
    is_settings = file.language in names.SETTINGS
    if file.hint == Hint.DATA or file.language == "csv" or (place.role == Role.DATA and is_settings):
        return Role.DATA
    # Much of XML is source: layouts, schemas, style sheets.
    if (is_settings and file.language != "xml") or (place.role == Role.CONFIG and not BY_ID[file.language].is_code):
        return Role.CONFIG
    return Role.SOURCE


def _is_settings(place: _Place, name: str) -> bool:
    if place.role == Role.DOCS:
        return names.is_site_settings_name(name)
    return place.role in (Role.SOURCE, Role.CONFIG, Role.DATA) and names.is_settings_name(name)


def _is_test(file: RoleFacts) -> bool:
    return file.hint == Hint.TESTS or (names.is_test_name(_split(file.path)[1], file.language) and _may_be_test(file))


def _may_be_test(file: RoleFacts) -> bool:
    """Return whether the text of a file does not show that it has no tests."""
    if file.language not in ("python", "javascript", "typescript", "rust", "ruby", "lua"):
        return True
    name = _split(file.path)[1]
    return file.hint != Hint.PLAIN or name.startswith(("conftest.", "test_helper.", "spec_helper."))


def _is_marker(path: str) -> bool:
    """Return whether a file only makes its folder a package."""
    return path.endswith(("/__init__.py", "/mod.rs"))


def _is_locale(file: RoleFacts, place: _Place, name: str) -> bool:
    """Return whether a file in a folder of translations is one, and not the code that loads them."""
    is_code = BY_ID[file.language].is_code
    stem = name.partition(".")[0]
    return not is_code or place.is_language or names.KNOWN_LANGUAGE.fullmatch(stem) is not None


def _split(path: str) -> tuple[str, str]:
    folder, _, name = path.rpartition("/")
    return folder, name


def _plain(name: str) -> str:
    """Return a folder's name as the tables have it: `__tests__` and `_fixture` are named like others."""
    return name.lower().strip("_")


def _joined(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name


def _without_ending(path: str, folder: str) -> str:
    inner = path.removeprefix(f"{folder}/")
    head, slash, name = inner.rpartition("/")
    return f"{head}{slash}{name.partition('.')[0]}"
