"""How each language finds what a name means, as far as that can be told without types."""

from dataclasses import dataclass
from functools import cache

from keyhole.core.index.rows import DefinitionRow
from keyhole.core.syntax.occurrences import OccurrenceRole
from keyhole.core.types.syntax import HOLDS_METHODS

# What C# leaves out of the name of a class where it decorates: `[Serializable]` is `SerializableAttribute`.
ATTRIBUTE = "Attribute"
# The languages of a family can use each other's definitions.
_FAMILIES = {
    "typescript": "javascript",
    "tsx": "javascript",
    "cpp": "c",
    "java": "jvm",
    "kotlin": "jvm",
    "scala": "jvm",
}


@dataclass(frozen=True, slots=True)
class LanguageRules:
    """The rules of one language."""

    # Words for the object or class around them, and for what it inherits from.
    self_words: frozenset[str] = frozenset()
    super_words: frozenset[str] = frozenset()
    # Words for the class of an object, after one for the object: `self.class.build`.
    class_words: frozenset[str] = frozenset()
    # A method can use the other members of its class without `this`.
    has_implicit_self: bool = False
    # Nothing but functions and classes of the same file decides what a name on its own means in different places of it.
    has_plain_scopes: bool = False
    # In the body of a class itself, its members so far are ordinary names.
    has_class_scopes: bool = False
    # A name of another file must be imported, and the imports of this language are resolved.
    needs_import: bool = False
    # Files say which package they belong to, and imports give whole names.
    has_packages: bool = False
    # The names in imports may start from a package or object that the file can reach.
    has_relative_imports: bool = False
    # Headers are included whole, so an import brings every name.
    includes: bool = False
    # Members of a class may be defined outside its body, even in other files.
    has_open_classes: bool = False
    # Functions may extend a class from elsewhere, so a class does not list all its members.
    has_extensions: bool = False
    # A class may have an object whose members are used as if they were its own.
    has_companions: bool = False
    # A variable exists from its declaration on; elsewhere, it hides other names in the whole function.
    has_late_variables: bool = False
    # Fields are no symbols, so the only symbol of a name may not be the only member.
    has_unlisted_fields: bool = False
    # In its class, a field hides other names as a variable does.
    has_fields_as_variables: bool = False
    # Names in these roles are never variables.
    never_variables: frozenset[OccurrenceRole] = frozenset()
    # Names in these roles are never functions.
    never_functions: frozenset[OccurrenceRole] = frozenset()
    # Functions without a name are recorded, so what they define is known to be theirs.
    has_unnamed_functions: bool = False
    # What several bases of a class inherit from counts after all of them.
    has_shared_bases_last: bool = False
    # A field needs no declaration: it exists once a method sets it.
    has_set_fields: bool = False
    # What an import brings may be a module itself.
    imports_modules: bool = False
    # The method that runs when a class is called.
    constructor: str = ""
    # Names have full names, made of namespaces that files declare and `use` brings.
    has_namespaces: bool = False
    # Constants are looked for in the modules around them, from the inside out; all others on their own are calls.
    nests_constants: bool = False
    # Functions belong to tables, and files are modules.
    has_tables: bool = False
    # What has members, beside classes and the like.
    other_holders: frozenset[str] = frozenset()
    # A call of a method may run one that overrides it.
    has_virtual_calls: bool = False
    # A call of a method is also one of the method of an interface that it implements.
    has_contracts: bool = False
    # Macros whose body is that of a method; their first argument is the class.
    fixture_macros: frozenset[str] = frozenset()
    # Types are known from names, and these words mean the type around them; those of `open_types` may be anything.
    has_value_types: bool = False
    own_type_words: frozenset[str] = frozenset()
    open_types: frozenset[str] = frozenset()
    # Words before a type that are none themselves.
    type_qualifiers: frozenset[str] = frozenset()


_TYPES = frozenset([OccurrenceRole.TYPE, OccurrenceRole.BASE, OccurrenceRole.DECORATOR])
# What is taken from something and not called; methods have other names than fields there.
_FIELDS = frozenset([OccurrenceRole.ATTRIBUTE, OccurrenceRole.ASSIGNMENT])


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_RULES = {
    "python": LanguageRules(
        _words("self cls"),
        _words("super"),
        has_plain_scopes=True,
        has_class_scopes=True,
        needs_import=True,
        imports_modules=True,
        has_unlisted_fields=True,
        has_set_fields=True,
        has_shared_bases_last=True,
        constructor="__init__",
        has_value_types=True,
        own_type_words=_words("Self"),
        type_qualifiers=_words("Final ClassVar"),
        open_types=_words("Any object Mock MagicMock AsyncMock NonCallableMock SimpleNamespace"),
    ),
    "javascript": LanguageRules(
        _words("this"),
        _words("super"),
        has_plain_scopes=True,
        needs_import=True,
        has_unnamed_functions=True,
        constructor="constructor",
        has_value_types=True,
        has_virtual_calls=True,
        has_contracts=True,
        open_types=frozenset(["any", "unknown", "object", "Object"]),
    ),
    "go": LanguageRules(
        has_plain_scopes=True,
        needs_import=True,
        has_value_types=True,
        has_open_classes=True,
        has_late_variables=True,
        has_unlisted_fields=True,
        never_variables=_TYPES,
    ),
    "rust": LanguageRules(
        frozenset(["self", "Self"]),
        _words("super"),
        needs_import=True,
        has_open_classes=True,
        has_late_variables=True,
        never_variables=_TYPES,
        never_functions=_FIELDS,
    ),
    "java": LanguageRules(
        _words("this"),
        _words("super"),
        has_implicit_self=True,
        needs_import=True,
        has_packages=True,
        has_value_types=True,
        open_types=_words("var Object"),
        has_late_variables=True,
        has_fields_as_variables=True,
        has_unlisted_fields=True,
        never_variables=_TYPES | {OccurrenceRole.CALL},
        never_functions=_FIELDS | {OccurrenceRole.MENTION},
    ),
    "kotlin": LanguageRules(
        _words("this Companion"),
        _words("super"),
        has_implicit_self=True,
        has_packages=True,
        has_value_types=True,
        has_extensions=True,
        has_open_classes=True,
        has_companions=True,
        has_late_variables=True,
        has_fields_as_variables=True,
        has_unlisted_fields=True,
        never_variables=_TYPES,
        never_functions=_FIELDS | {OccurrenceRole.MENTION},
    ),
    "scala": LanguageRules(
        _words("this"),
        _words("super"),
        has_implicit_self=True,
        has_packages=True,
        has_value_types=True,
        has_extensions=True,
        has_relative_imports=True,
        has_fields_as_variables=True,
        has_unlisted_fields=True,
        never_variables=_TYPES,
    ),
    "csharp": LanguageRules(
        _words("this"),
        _words("base"),
        has_implicit_self=True,
        has_open_classes=True,
        never_variables=_TYPES,
        has_fields_as_variables=True,
        has_unlisted_fields=True,
    ),
    "swift": LanguageRules(
        frozenset(["self", "Self"]),
        _words("super"),
        has_implicit_self=True,
        has_open_classes=True,
        has_late_variables=True,
        never_variables=_TYPES,
        has_fields_as_variables=True,
        has_unlisted_fields=True,
    ),
    "c": LanguageRules(
        _words("this"),
        has_implicit_self=True,
        includes=True,
        has_open_classes=True,
        has_fields_as_variables=True,
        never_variables=_TYPES,
        never_functions=_FIELDS,
        has_value_types=True,
        has_virtual_calls=True,
        fixture_macros=_words("TEST_F TEST_P TYPED_TEST TYPED_TEST_P BENCHMARK_F BENCHMARK_DEFINE_F"),
    ),
    "php": LanguageRules(
        _words("$this self static"),
        _words("parent"),
        has_namespaces=True,
        has_value_types=True,
        own_type_words=_words("self static"),
        open_types=_words("stdClass"),
        never_functions=_FIELDS | {OccurrenceRole.MENTION},
    ),
    "ruby": LanguageRules(
        _words("self"),
        class_words=_words("class"),
        has_implicit_self=True,
        has_open_classes=True,
        never_variables=frozenset([OccurrenceRole.CALL]),
        nests_constants=True,
        has_value_types=True,
        other_holders=_words("module"),
    ),
    "lua": LanguageRules(_words("self"), has_tables=True),
}
_NO_RULES = LanguageRules()


def family_of(language: str) -> str:
    """Return the family of a language."""
    return _FAMILIES.get(language, language)


@cache
def rules_of(language: str) -> LanguageRules:
    """Return the rules of a language."""
    return _RULES.get(language) or _RULES.get(family_of(language), _NO_RULES)


def is_holder(row: DefinitionRow) -> bool:
    """Return whether a definition has members."""
    return row.kind in HOLDS_METHODS or row.kind in rules_of(row.language).other_holders
