"""The role of each file: by the names of files and folders, by what is next to it, and by its content."""

import pytest

from keyhole.core.roles.content_hint import Hint, content_hint
from keyhole.core.roles.file_roles import RoleFacts, file_roles, role_by_path
from keyhole.core.syntax.languages import detect_language
from keyhole.core.types.choices import Role

PYTHON_TEST = "def test_it():\n    assert True\n"
SCRIPT_TEST = "describe('x', () => {\n  it('works', () => {})\n})\n"
BUNDLE = '"use strict";\nObject.defineProperty(exports, "__esModule", { value: true });\n'
OURS = "MIT License\n\nCopyright (c) 2020 Ada Lovelace\n\nPermission is hereby granted\n"
THEIRS = "BSD License\n\nCopyright (c) 1999-2003, Grace Hopper. All rights reserved.\n"


def roles(tree: dict[str, str]) -> dict[str, str]:
    """Return the role of each file of a tree, given with its text."""
    facts = []
    for path, text in tree.items():
        language = detect_language(path, text).id
        facts.append(RoleFacts(path, language, content_hint(path, language, text)))
    return dict(zip(tree, map(str, file_roles(facts)), strict=True))


# Each tree has the text of every file, and its role.
Tree = dict[str, tuple[str, str]]
TREES: dict[str, Tree] = {
    "a test folder beside sources": {
        "src/retry.py": ("x = 1\n", "source"),
        "test/helpers.py": ("x = 1\n", "test"),
        "test/data.json": ("{}\n", "fixture"),
        "test/README.md": ("# Tests\n", "docs"),
        "test/cases/one.md": ("# One\n", "fixture"),
        "tests/fixtures/broken.py": ("x =\n", "fixture"),
        "tests/data/words.txt": ("x\n", "fixture"),
    },
    "a test folder in a package is a library for tests, unless it has tests": {
        "web/__init__.py": ("", "source"),
        "web/test/__init__.py": ("", "source"),
        "web/test/client.py": ("class Client: ...\n", "source"),
        "web/test/runner.py": ("class Runner: ...\n", "source"),
        "web/forms/__init__.py": ("", "source"),
        "web/forms/test/__init__.py": ("", "test"),
        "web/forms/test/test_fields.py": (PYTHON_TEST, "test"),
        "web/forms/test/base.py": ("class Base: ...\n", "test"),
    },
    "a package named testing": {
        "testing/clock.go": ("package testing\n", "source"),
        "src/testing/mount.ts": ("export const mount = 1\n", "source"),
        "src/test-utils/mount.ts": ("export const mount = 1\n", "source"),
    },
    "a folder named testing that has tests": {
        "testing/test_config.py": (PYTHON_TEST, "test"),
        "testing/test_python.py": (PYTHON_TEST, "test"),
    },
    "test_ is a prefix of tests only in some languages": {
        "lib/test_functions.bash": ("run() { :; }\n", "source"),
        "lib/retry_test.go": ("package lib\n", "test"),
        "lib/test_retry.go": ("package lib\n", "source"),
        "pkg/test_retry.py": (PYTHON_TEST, "test"),
        "pkg/test_runner.py": ("class Runner: ...\n", "source"),
        "pkg/conftest.py": ("x = 1\n", "test"),
        "app/retry.spec.ts": (SCRIPT_TEST, "test"),
        "app/latest.ts": ("export const x = 1\n", "source"),
        "check/run.bats": ('@test "x" {\n}\n', "test"),
        "spec/retry_spec.rb": ("describe Retry do\nend\n", "test"),
    },
    "the layout of Java": {
        "core/src/main/java/com/example/test/Mock.java": ("class Mock {}\n", "source"),
        "core/src/main/java/com/example/test/MockTest.java": ("class MockTest {}\n", "source"),
        "core/src/main/java/com/example/vendor/Vendor.java": ("class Vendor {}\n", "source"),
        "core/src/test/java/com/example/Helper.java": ("class Helper {}\n", "test"),
        "core/src/test/resources/one.json": ("{}\n", "fixture"),
        "core/src/jvmTest/kotlin/Helper.kt": ("class Helper\n", "test"),
        "core/src/commonMain/kotlin/org/sample/Api.kt": ("class Api\n", "source"),
    },
    "projects of tests": {
        "src/Log.Tests/Log.Tests.csproj": ("<Project/>\n", "test"),
        "src/Log.Tests/Support.cs": ("class Support {}\n", "test"),
        "src/Log/Log.cs": ("class Log {}\n", "source"),
        "runtime-tests/bun/index.ts": ("export {}\n", "test"),
    },
    "documents, and code in a folder of documents": {
        "README.md": ("# Read\n", "docs"),
        "LICENSE": (OURS, "docs"),
        "src/NOTES.md": ("# Notes\n", "docs"),
        "docs/guide.rst": ("Guide\n=====\n", "docs"),
        "docs/conf.py": ("project = 'x'\n", "config"),
        "docs/app/page.tsx": ("export const page = 1\n", "example"),
        "docs/style.css": ("a {}\n", "docs"),
        "docs/examples/one.py": ("x = 1\n", "example"),
        "docs/ja/guide.md": ("# Guide\n", "locale"),
        "README.zh-CN.md": ("# Read\n", "locale"),
    },
    "a package named doc": {
        "doc/man.go": ("package doc\n", "source"),
        "doc/README.md": ("# Doc\n", "docs"),
        "src/docs/parser.ts": ("export const parse = 1\n", "source"),
    },
    "examples": {
        "examples/one.py": ("x = 1\n", "example"),
        "bench/run.py": ("x = 1\n", "example"),
        "examples/package.json": ("{}\n", "example"),
        "examples/one_test.go": ("package one\n", "test"),
    },
    "a lib that repeats src is built": {
        "package.json": ("{}\n", "config"),
        "src/store.ts": ("export const store = 1\n", "source"),
        "src/util/merge.ts": ("export const merge = 1\n", "source"),
        "lib/store.js": ("exports.store = 1\n", "built"),
        "lib/store.d.ts": ("export const store: number\n", "built"),
        "lib/util/merge.js": ("exports.merge = 1\n", "built"),
        "dist/store.js": ("exports.store = 1\n", "built"),
    },
    "a lib beside a src with other names is source": {
        "src/main.js": ("run()\n", "source"),
        "lib/parse.js": ("exports.parse = 1\n", "source"),
        "lib/print.js": ("exports.print = 1\n", "source"),
        "build/webpack.js": ("exports.config = 1\n", "source"),
        "build/release.js": ("exports.release = 1\n", "source"),
        "pkg/dist/normal.py": ("x = 1\n", "source"),
    },
    "built files by content": {
        "out/one.js": (BUNDLE, "built"),
        "out/two.js": (BUNDLE, "built"),
        "out/three.js": ("var x = 1\n", "built"),
        "app/all.js": ("!function(e){function __webpack_require__(t){}}\n", "built"),
        "app/page.js": ("let x = 1\n//# sourceMappingURL=page.js.map\n", "built"),
        "app/banner.js": ("/*!\n * Thing v1.2.3\n * MIT\n */\nlet x = 1\n", "built"),
        "app/licensed.js": ("/*!\n * thing\n * Copyright(c) 2014\n */\nlet x = 1\n", "source"),
        "app/thing.umd.js": ("let x = 1\n", "built"),
        "db/all.c": ("/* This file is an amalgamation of many files */\n" + "int x;\n" * 5_000, "built"),
        "db/one.c": ("/* a part of the amalgamation */\nint x;\n", "source"),
        "static/page.html": ("<p>" + "x" * 5_000 + "\n", "built"),
    },
    "generated code": {
        "src/parse.c": ("/* A Bison parser, made by GNU Bison 3.8.2.  */\n", "generated"),
        "src/lex.c": ("/* A lexical scanner generated by flex */\n", "generated"),
        "app/0001_initial.py": ("# Generated by Django 5.2 on 2025-04-02\n", "generated"),
        "api/types.ts": ("// This file was generated by a tool.\nexport {}\n", "generated"),
        "api/client.py": ("# DO NOT EDIT. Made by the generator.\nx = 1\n", "generated"),
        "api/ids.py": ("# Returns the ids that were generated by the server.\nx = 1\n", "source"),
        "api/write.py": ("HEADER = 'generated by us, do not edit'\n", "source"),
        "generated/all.ts": ("export {}\n", "generated"),
        "src/thing_pb2.py": ("x = 1\n", "generated"),
    },
    "copies of other projects": {
        "LICENSE": (OURS, "docs"),
        "vendor/lib/one.go": ("package one\n", "vendored"),
        "vendor/lib/one_test.go": ("package one\n", "vendored"),
        "src/_vendor/six.py": ("x = 1\n", "vendored"),
        "deps/lua/lua.c": ("int x;\n", "vendored"),
        "src/deps/graph.ts": ("export {}\n", "source"),
        "static/jquery-3.6.0.js": ("let x = 1\n", "vendored"),
        "src/hash/LICENSE.txt": (THEIRS, "vendored"),
        "src/hash/hash.c": ("int x;\n", "vendored"),
        "src/own/LICENSE": (OURS, "docs"),
        "src/own/own.c": ("int x;\n", "source"),
        "packages/guest/LICENSE": (THEIRS, "docs"),
        "packages/guest/index.js": ("let x = 1\n", "source"),
        "tests/cases/LICENSE": (THEIRS, "docs"),
        "tests/cases/one.c": ("int x;\n", "test"),
    },
    "code taken over into a package": {
        "LICENSE": (OURS, "docs"),
        "web/__init__.py": ("", "source"),
        "web/signals/__init__.py": ("", "source"),
        "web/signals/LICENSE": (THEIRS, "docs"),
        "web/signals/send.py": ("x = 1\n", "source"),
    },
    "data": {
        "src/prices.csv": ("a,b\n", "data"),
        "src/schema.json": ('{"a": 1}\n', "config"),
        "src/rows.json": ("[1, 2]\n", "data"),
        "src/large.yaml": ("a: 1\n" * 10_000, "data"),
        "src/table.py": ("TABLE = [\n" + "    (1, 'x'),\n" * 400 + "]\n", "data"),
        "src/long.py": ("x = call(1)\n" * 400, "source"),
        "src/words.txt": ("word\n" * 300, "data"),
        "dump.sql": ("INSERT INTO t VALUES (1);\n" * 400, "data"),
        "data/one.json": ("{}\n", "data"),
        "data/load.py": ("x = 1\n", "source"),
    },
    "translations": {
        "app/locale/fr/LC_MESSAGES/app.po": ('msgid "x"\n', "locale"),
        "app/locale/fr/formats.py": ("DATE = 'j F Y'\n", "locale"),
        "app/locale/loader.py": ("def load(): ...\n", "source"),
        "src/i18n/de.ts": ("export default {}\n", "locale"),
        "src/i18n/index.ts": ("export {}\n", "source"),
        "src/legacy/old.py": ("x = 1\n", "source"),
        "src/compat/py2.py": ("x = 1\n", "source"),
        "src/lang/ast.go": ("package lang\n", "source"),
        "docs/client-id.md": ("# Client ids\n", "docs"),
    },
    "settings": {
        "pyproject.toml": ("[project]\n", "config"),
        "setup.py": ("setup()\n", "config"),
        ".github/workflows/ci.yml": ("on: push\n", "config"),
        "web/vite.config.ts": ("export default {}\n", "config"),
        "Makefile": ("all:\n", "config"),
        "src/settings.py": ("x = 1\n", "source"),
        "src/page.html": ("<p>\n", "source"),
        "src/layout.xml": ("<a/>\n", "source"),
    },
}


@pytest.mark.parametrize("tree", TREES.values(), ids=TREES)
def test_roles(tree: Tree) -> None:
    expected = {path: role for path, (_, role) in tree.items()}
    assert roles({path: text for path, (text, _) in tree.items()}) == expected


def test_the_order_of_the_files_does_not_matter() -> None:
    for tree in TREES.values():
        texts = {path: text for path, (text, _) in tree.items()}
        assert roles(dict(reversed(texts.items()))) == roles(texts)


@pytest.mark.parametrize(
    ("path", "role"),
    [
        ("src/retry.py", "source"),
        ("tests/test_retry.py", "test"),
        ("pkg/test/client.py", "test"),
        ("vendor/one.go", "vendored"),
        ("docs/guide.md", "docs"),
        ("docs/conf.py", "config"),
        ("examples/one.py", "example"),
        ("app/locale/fr/app.po", "locale"),
        ("dist/one.js", "built"),
        ("lib/one.js", "source"),
        ("package.json", "config"),
    ],
)
def test_a_path_alone_gives_the_most_likely_role(path: str, role: str) -> None:
    assert role_by_path(path) == role


def test_every_role_is_in_a_tree() -> None:
    assert {role for tree in TREES.values() for _, role in tree.values()} == set(Role)


@pytest.mark.parametrize(
    "text", ["/*!" + "\n * x" * 50_000, "# " * 50_000, "/" * 99_999, "# this " * 20_000 + "generat"]
)
def test_hostile_text_takes_no_time(text: str) -> None:
    for path in ("a.js", "test/a.py", "a.c", "LICENSE", "a.html"):
        assert content_hint(path, detect_language(path, "").id, text) in (*Hint, "licence: ")
