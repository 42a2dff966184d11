"""The languages: how to recognise each one, and its rules for what is public.

A language with a symbol query names it in `table`. A language with only a grammar is chunked along its syntax tree, and
one without a grammar by lines.
"""

import re
from dataclasses import dataclass
from pathlib import PurePosixPath


@dataclass(frozen=True, slots=True)
class Language:
    """One row of the table; `grammar` is its name in tree-sitter-language-pack."""

    id: str
    label: str
    extensions: tuple[str, ...] = ()
    filenames: tuple[str, ...] = ()
    interpreters: tuple[str, ...] = ()
    grammar: str | None = None
    # The symbol query: assets/queries/<table>.scm.
    table: str = ""
    # Code has definitions. The keys of data and the headings of prose appear in maps only.
    is_code: bool = True
    # A top-level definition is exported if it has one of `export_words` (if there are any) and none of `private_words`,
    # and its name does not start with `private_prefix`.
    export_words: frozenset[str] = frozenset()
    private_words: frozenset[str] = frozenset()
    private_prefix: str = ""
    # Words that make a top-level definition private to its file, and kinds whose members are private unless marked.
    file_words: frozenset[str] = frozenset()
    hides_members: frozenset[str] = frozenset()
    members_need_export_word: bool = False
    exported_if_capital: bool = False

    @property
    def has_symbols(self) -> bool:
        """Whether the language has a symbol query."""
        return bool(self.table)

    @property
    def has_definitions(self) -> bool:
        """Whether chunks in this language list their definitions."""
        return self.is_code and self.has_symbols


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _grammar_only(label: str, *extensions: str, grammar: str = "", is_code: bool = True) -> Language:
    """Return a language that is chunked along its syntax tree but has no symbol query."""
    identifier = grammar or label.lower()
    return Language(identifier, label, extensions, grammar=identifier, is_code=is_code)


TEXT = Language("text", "Text", (".txt", ".text", ".log"), is_code=False)

LANGUAGES: tuple[Language, ...] = (
    Language(
        "python",
        "Python",
        (".py", ".pyi", ".pyw"),
        ("SConstruct", "SConscript"),
        ("python", "python2", "python3"),
        grammar="python",
        table="python",
        private_prefix="_",
    ),
    Language(
        "javascript",
        "JavaScript",
        (".js", ".mjs", ".cjs", ".jsx"),
        (),
        ("node", "nodejs"),
        grammar="javascript",
        table="javascript",
        export_words=_words("export"),
        private_words=_words("private protected"),
        private_prefix="#",
    ),
    Language(
        "typescript",
        "TypeScript",
        (".ts", ".mts", ".cts"),
        (),
        ("deno", "ts-node", "tsx"),
        grammar="typescript",
        table="typescript",
        export_words=_words("export"),
        private_words=_words("private protected"),
        private_prefix="#",
    ),
    Language(
        "tsx",
        "TSX",
        (".tsx",),
        grammar="tsx",
        table="typescript",
        export_words=_words("export"),
        private_words=_words("private protected"),
        private_prefix="#",
    ),
    Language("go", "Go", (".go",), grammar="go", table="go", exported_if_capital=True),
    Language(
        "rust",
        "Rust",
        (".rs",),
        grammar="rust",
        table="rust",
        export_words=_words("pub @macro_export"),
        private_words=_words("crate super"),
        members_need_export_word=True,
    ),
    Language(
        "java",
        "Java",
        (".java",),
        grammar="java",
        table="java",
        export_words=_words("public protected"),
        private_words=_words("private"),
        members_need_export_word=True,
    ),
    Language("c", "C", (".c", ".h"), grammar="c", table="c", file_words=_words("static")),
    Language(
        "cpp",
        "C++",
        (".cc", ".cpp", ".cxx", ".c++", ".hh", ".hpp", ".hxx", ".h++", ".ipp", ".tpp", ".inl"),
        grammar="cpp",
        table="cpp",
        private_words=_words("private protected"),
        file_words=_words("static"),
        hides_members=_words("class"),
    ),
    Language(
        "csharp",
        "C#",
        (".cs", ".csx"),
        grammar="csharp",
        table="csharp",
        export_words=_words("public protected"),
        private_words=_words("private"),
        members_need_export_word=True,
    ),
    Language(
        "ruby",
        "Ruby",
        (".rb", ".rake", ".gemspec", ".ru"),
        ("Rakefile", "Gemfile", "Vagrantfile", "Podfile", "Guardfile"),
        ("ruby", "jruby"),
        grammar="ruby",
        table="ruby",
        private_words=_words("private protected private_class_method"),
        private_prefix="_",
    ),
    Language(
        "php",
        "PHP",
        (".php", ".phtml", ".php5", ".phps"),
        (),
        ("php",),
        grammar="php",
        table="php",
        private_words=_words("private protected"),
    ),
    Language(
        "kotlin",
        "Kotlin",
        (".kt", ".kts"),
        grammar="kotlin",
        table="kotlin",
        private_words=_words("private protected internal"),
    ),
    Language(
        "swift",
        "Swift",
        (".swift",),
        (),
        ("swift",),
        grammar="swift",
        table="swift",
        private_words=_words("private fileprivate"),
    ),
    Language(
        "scala",
        "Scala",
        (".scala", ".sc", ".sbt"),
        (),
        ("scala",),
        grammar="scala",
        table="scala",
        private_words=_words("private protected"),
    ),
    Language(
        "bash",
        "Bash",
        (".sh", ".bash", ".bats", ".zsh", ".ksh"),
        (".bashrc", ".bash_profile", ".profile", ".zshrc", "PKGBUILD"),
        ("sh", "bash", "dash", "zsh", "ksh"),
        grammar="bash",
        table="bash",
        private_prefix="_",
    ),
    Language("sql", "SQL", (".sql", ".ddl", ".psql"), grammar="sql", table="sql"),
    Language(
        "lua",
        "Lua",
        (".lua",),
        (),
        ("lua", "luajit"),
        grammar="lua",
        table="lua",
        private_words=_words("local"),
        private_prefix="_",
    ),
    Language(
        "markdown",
        "Markdown",
        (".md", ".markdown", ".mdx", ".mdown"),
        grammar="markdown",
        table="markdown",
        is_code=False,
    ),
    Language(
        "json",
        "JSON",
        (".json", ".jsonc", ".json5", ".webmanifest", ".geojson"),
        (".babelrc", ".eslintrc", ".prettierrc"),
        grammar="json",
        table="json",
        is_code=False,
    ),
    Language(
        "yaml",
        "YAML",
        (".yaml", ".yml"),
        (".clang-format",),
        grammar="yaml",
        table="yaml",
        is_code=False,
    ),
    Language(
        "toml",
        "TOML",
        (".toml",),
        ("Pipfile",),
        grammar="toml",
        table="toml",
        is_code=False,
    ),
    Language("csv", "CSV", (".csv", ".tsv"), is_code=False),
    Language("make", "Make", (".mk",), ("Makefile", "makefile", "GNUmakefile"), grammar="make"),
    Language("dockerfile", "Dockerfile", (".dockerfile",), ("Dockerfile", "Containerfile"), grammar="dockerfile"),
    Language("cmake", "CMake", (".cmake",), ("CMakeLists.txt",), grammar="cmake"),
    Language("groovy", "Groovy", (".groovy", ".gradle"), ("Jenkinsfile",), grammar="groovy"),
    # Without its grammar, which can loop forever despite any time limit.
    Language("perl", "Perl", (".pl", ".pm"), (), ("perl",)),
    Language("fish", "Fish", (".fish",), (), ("fish",), grammar="fish"),
    Language("starlark", "Starlark", (".bzl", ".star"), ("BUILD", "BUILD.bazel", "WORKSPACE"), grammar="starlark"),
    _grammar_only("CSS", ".css", is_code=False),
    _grammar_only("SCSS", ".scss", is_code=False),
    _grammar_only("HTML", ".html", ".htm", ".xhtml", is_code=False),
    _grammar_only("XML", ".xml", ".xsd", ".xsl", ".svg", ".csproj", ".plist", is_code=False),
    _grammar_only("INI", ".ini", ".cfg", ".conf", is_code=False),
    _grammar_only("reStructuredText", ".rst", grammar="rst", is_code=False),
    _grammar_only("LaTeX", ".tex", ".sty", is_code=False),
    _grammar_only("Properties", ".properties", is_code=False),
    _grammar_only("Protobuf", ".proto", grammar="proto"),
    _grammar_only("GraphQL", ".graphql", ".gql"),
    _grammar_only("Haskell", ".hs"),
    _grammar_only("Elixir", ".ex", ".exs"),
    _grammar_only("Erlang", ".erl", ".hrl"),
    _grammar_only("Clojure", ".clj", ".cljs", ".cljc", ".edn"),
    _grammar_only("OCaml", ".ml"),
    _grammar_only("OCaml interface", ".mli", grammar="ocaml_interface"),
    _grammar_only("F#", ".fs", ".fsx", grammar="fsharp"),
    _grammar_only("Zig", ".zig"),
    _grammar_only("Nim", ".nim"),
    _grammar_only("D", ".d"),
    _grammar_only("Dart", ".dart"),
    _grammar_only("Julia", ".jl"),
    _grammar_only("R", ".r", ".R"),
    _grammar_only("Objective-C", ".m", ".mm", grammar="objc"),
    _grammar_only("CUDA", ".cu", ".cuh"),
    _grammar_only("GLSL", ".glsl", ".vert", ".frag"),
    _grammar_only("Terraform", ".tf", ".tfvars"),
    _grammar_only("HCL", ".hcl"),
    _grammar_only("Nix", ".nix"),
    _grammar_only("Vue", ".vue"),
    _grammar_only("Svelte", ".svelte"),
    _grammar_only("Astro", ".astro"),
    _grammar_only("PowerShell", ".ps1", ".psm1"),
    _grammar_only("Vim script", ".vim", grammar="vim"),
    _grammar_only("Emacs Lisp", ".el", grammar="elisp"),
    _grammar_only("Common Lisp", ".lisp", ".cl", grammar="commonlisp"),
    _grammar_only("Scheme", ".scm", ".ss"),
    _grammar_only("Racket", ".rkt"),
    _grammar_only("Solidity", ".sol"),
    _grammar_only("Verilog", ".v", ".sv"),
    _grammar_only("VHDL", ".vhd", ".vhdl"),
    _grammar_only("Fortran", ".f", ".f90", ".f95", ".for"),
    _grammar_only("Ada", ".adb", ".ads"),
    _grammar_only("Pascal", ".pas", ".pp"),
    _grammar_only("Tcl", ".tcl"),
    _grammar_only("Prisma", ".prisma"),
    _grammar_only("Thrift", ".thrift"),
    Language("meson", "Meson", (), ("meson.build", "meson_options.txt", "meson.options"), grammar="meson"),
    TEXT,
)

BY_ID: dict[str, Language] = {language.id: language for language in LANGUAGES}
_BY_EXTENSION = {ext: language for language in LANGUAGES for ext in language.extensions}
_BY_FILENAME = {name: language for language in LANGUAGES for name in language.filenames}
_BY_INTERPRETER = {name: language for language in LANGUAGES for name in language.interpreters}

_SHEBANG_LIMIT = 200
# C++ headers are often named `.h`; a match shows that a header is C++, not C.
_CPP_MARKS = re.compile(r"^[ \t]*(?:class|namespace|template\s*<|using\s|(?:public|private|protected):)", re.MULTILINE)


def language_named(name: str) -> Language | None:
    """Return the language with this id, label or file extension, ignoring case."""
    given = name.lower().removeprefix(".")
    for language in LANGUAGES:
        if given in (language.id, language.label.lower()) or f".{given}" in language.extensions:
            return language
    return None


def detect_language(path: str, text: str) -> Language:
    """Return the language of a file: by its name, then by its first line, else plain text."""
    place = PurePosixPath(path)
    name, extension = place.name, place.suffix
    found = _BY_FILENAME.get(name) or _BY_EXTENSION.get(extension) or _BY_EXTENSION.get(extension.lower())
    if found is None:
        interpreter = _interpreter(text)
        return _BY_INTERPRETER.get(interpreter) or _BY_INTERPRETER.get(interpreter.rstrip("0123456789."), TEXT)
    if found.id == "c" and extension.lower() == ".h" and _CPP_MARKS.search(text):
        return BY_ID["cpp"]
    return found


def _interpreter(text: str) -> str:
    """Return the interpreter in the first line of a script."""
    if not text.startswith("#!"):
        return ""
    names = [word.rpartition("/")[2] for word in text[2:_SHEBANG_LIMIT].split("\n", maxsplit=1)[0].split()]
    if names[:1] == ["env"]:
        names = [name for name in names[1:] if not name.startswith("-") and "=" not in name]
    return names[0] if names else ""
