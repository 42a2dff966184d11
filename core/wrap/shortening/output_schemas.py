"""Structured content that is shorter and still follows the output schema of its tool, as far as the schema allows it.

A schema allows it if every answer that follows it has a short form: arrays may be shorter, strings too, properties that
are not required may be missing, and the answer may have one more property, which says what is left out.
"""

from collections.abc import Iterator, Mapping
from typing import Any

NOTE = "keyhole_note"

Schema = Mapping[str, Any] | bool
# What these keywords ask for is not looked into, so a schema that has one is taken to allow no shorter form.
_NOT_UNDERSTOOD = frozenset(
    [
        "allOf", "oneOf", "not", "if", "then", "else", "dependentRequired", "dependentSchemas", "dependencies",
        "patternProperties", "propertyNames", "minProperties", "maxProperties", "unevaluatedProperties",
        "unevaluatedItems", "contains", "minContains", "prefixItems", "$dynamicRef", "$recursiveRef",
    ]
)  # fmt: skip
_STRING_RULES = frozenset(["minLength", "pattern", "format", "contentEncoding", "contentMediaType"])
_OBJECT_RULES = frozenset(["properties", "required", "items"])
_DEEPEST = 20


def allows_shorter(schema: object) -> bool:
    """Return whether every answer that follows a schema has a short form that follows it too."""
    if not isinstance(schema, dict) or schema.get("type") != "object" or schema.get("additionalProperties") is False:
        return False
    extra = schema.get("additionalProperties", True)
    takes_note = extra is True or (isinstance(extra, dict) and extra.get("type", "string") == "string")
    properties = schema.get("properties", {})
    return takes_note and NOTE not in properties and _has_short_form(schema, schema, _DEEPEST)


def _has_short_form(schema: object, root: Mapping[str, Any], depth: int) -> bool:
    if schema is True:
        return True
    if not isinstance(schema, dict) or depth == 0 or not _NOT_UNDERSTOOD.isdisjoint(schema):
        return False
    if "$ref" in schema:
        return _has_short_form(_resolved(schema["$ref"], root), root, depth - 1)
    if "anyOf" in schema:
        return all(_has_short_form(each, root, depth - 1) for each in schema["anyOf"])
    kinds = schema.get("type")
    return all(
        _can_be_short(kind, schema) and all(_has_short_form(each, root, depth - 1) for each in _required(kind, schema))
        for kind in (kinds if isinstance(kinds, list) else [kinds])
    )


def _can_be_short(kind: object, schema: Mapping[str, Any]) -> bool:
    """Return whether a value of this type may be short, apart from what it contains."""
    if "enum" in schema or "const" in schema or kind in ("object", "number", "integer", "boolean", "null"):
        return True
    is_free = not schema.get("minItems") and _STRING_RULES.isdisjoint(schema)
    return is_free and (kind in ("array", "string") or not _OBJECT_RULES & schema.keys())


def _required(kind: object, schema: Mapping[str, Any]) -> list[object]:
    """Return the schemas of what an object has to contain."""
    properties = schema.get("properties", {})
    return [properties.get(name, True) for name in schema.get("required", ())] if kind == "object" else []


def _resolved(reference: object, root: Mapping[str, Any]) -> object:
    """Return what a reference within the schema points to; None if it is another one."""
    if not isinstance(reference, str) or not reference.startswith("#/"):
        return None
    found: Any = root
    for step in reference.removeprefix("#/").split("/"):
        found = found.get(step) if isinstance(found, dict) else None
    return found


def shortest(value: object, schema: object, root: Mapping[str, Any]) -> object:
    """Return the short form of a value: only what is required, arrays without elements, and no long strings."""
    if isinstance(schema, dict) and ("enum" in schema or "const" in schema):
        return value
    if isinstance(schema, dict) and "$ref" in schema:
        return shortest(value, _resolved(schema["$ref"], root), root)
    if isinstance(value, dict):
        known = list(_object_schemas(schema, root))
        required = {name for each in known for name in each.get("required", ())}
        properties = {name: inner for each in known for name, inner in each.get("properties", {}).items()}
        return {
            name: shortest(inner, properties.get(name, True), root) for name, inner in value.items() if name in required
        }
    if isinstance(value, list):
        return []
    # Members of an enumeration in one of several alternatives stay, because they are short.
    return value if not isinstance(value, str) or len(value) <= 100 else ""


def _object_schemas(schema: object, root: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the schemas that an object may follow: this one, or its alternatives."""
    if not isinstance(schema, dict):
        return
    if "$ref" in schema:
        yield from _object_schemas(_resolved(schema["$ref"], root), root)
    yield schema
    for each in schema.get("anyOf", ()):
        yield from _object_schemas(each, root)


def follows(value: object, schema: Mapping[str, Any]) -> bool:
    """Return whether a value follows a schema."""
    from jsonschema.exceptions import SchemaError
    from jsonschema.validators import validator_for

    try:
        return bool(validator_for(schema)(schema).is_valid(value))
    except (SchemaError, RecursionError):
        return False
