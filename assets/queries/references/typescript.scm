(call_expression function: (identifier) @ref.call)
(call_expression function: (member_expression property: (_) @ref.call))
(call_expression function: (non_null_expression (member_expression property: (_) @ref.call)))
(new_expression constructor: (identifier) @ref.call)
(new_expression constructor: (member_expression property: (_) @ref.call))

(import_clause (identifier) @ref.import)
(import_specifier name: (identifier) @ref.import)
(import_specifier alias: (identifier) @ref.alias)
(namespace_import (identifier) @ref.alias)
(import_require_clause (identifier) @ref.alias)
(export_statement (export_clause (export_specifier name: (identifier) @ref.import)) source: (_))
(export_specifier alias: (identifier) @ref.alias)
(namespace_export (identifier) @ref.alias)
((variable_declarator name: (identifier) @ref.import value: (call_expression function: (identifier) @_call))
  (#eq? @_call "require"))
((variable_declarator
  name: (object_pattern [
    (shorthand_property_identifier_pattern) @ref.import
    (pair_pattern key: (property_identifier) @ref.import value: (identifier) @ref.alias)])
  value: [(call_expression function: (identifier) @_call)
    (await_expression (call_expression function: (import) @_call))])
  (#any-of? @_call "require" "import"))

(extends_clause value: (identifier) @ref.base)
(extends_clause value: (member_expression property: (_) @ref.base))
([(implements_clause [(type_identifier) @ref.base
    (nested_type_identifier name: (type_identifier) @ref.base)
    (generic_type name: (type_identifier) @ref.base)
    (generic_type name: (nested_type_identifier name: (type_identifier) @ref.base))])
  (extends_type_clause [(type_identifier) @ref.base
    (nested_type_identifier name: (type_identifier) @ref.base)
    (generic_type name: (type_identifier) @ref.base)
    (generic_type name: (nested_type_identifier name: (type_identifier) @ref.base))])])

(decorator (identifier) @ref.decorator)
(decorator (member_expression property: (_) @ref.decorator))
(decorator (call_expression function: (identifier) @ref.decorator))
(decorator (call_expression function: (member_expression property: (_) @ref.decorator)))

(required_parameter pattern: (identifier) @ref.local)
(optional_parameter pattern: (identifier) @ref.local)
(arrow_function parameter: (identifier) @ref.local)
(variable_declarator name: (identifier) @ref.local)
(for_in_statement kind: _ left: (identifier) @ref.local)
(catch_clause parameter: (identifier) @ref.local)
(assignment_pattern left: (identifier) @ref.local)
(rest_pattern (identifier) @ref.local)
(array_pattern (identifier) @ref.local)
(pair_pattern value: (identifier) @ref.local)
(shorthand_property_identifier_pattern) @ref.local
(function_expression name: (identifier) @ref.local)
(class name: (type_identifier) @ref.local)
(type_parameter name: (type_identifier) @ref.type_parameter)
(mapped_type_clause name: (type_identifier) @ref.local)
(infer_type . (type_identifier) @ref.local)

(assignment_expression left: (identifier) @ref.assignment)
(assignment_expression left: (member_expression property: (_) @ref.assignment))
(augmented_assignment_expression left: (identifier) @ref.assignment)
(augmented_assignment_expression left: (member_expression property: (_) @ref.assignment))
(update_expression argument: (identifier) @ref.assignment)
(update_expression argument: (member_expression property: (_) @ref.assignment))

; Names of members where they are declared, keys, labels, and parameters that only document a type.
(pair key: (property_identifier) @ref.argument)
(pair_pattern key: (property_identifier) @ref.argument)
(method_definition name: (property_identifier) @ref.argument)
(method_signature name: (property_identifier) @ref.argument)
(property_signature name: (property_identifier) @ref.argument)
(public_field_definition name: (property_identifier) @ref.argument)
(public_field_definition name: (private_property_identifier) @ref.argument)
(enum_body name: (property_identifier) @ref.argument)
(enum_assignment name: (property_identifier) @ref.argument)
(function_type parameters: (formal_parameters (_ pattern: (identifier) @ref.argument)))
(index_signature name: (identifier) @ref.argument)
(tuple_type (_ name: (identifier) @ref.argument))
(statement_identifier) @ref.argument

(import_statement source: (string (string_fragment) @ref.argument))
(export_statement source: (string (string_fragment) @ref.argument))
(import_require_clause source: (string (string_fragment) @ref.argument))
((call_expression function: [(identifier) (import)] @_call arguments: (arguments . (string (string_fragment) @ref.argument)))
  (#any-of? @_call "require" "import"))
(string . (string_fragment) @ref.string .)
(property_identifier) @ref.attribute
(private_property_identifier) @ref.attribute
(shorthand_property_identifier) @ref
(type_identifier) @ref.type
(identifier) @ref
(arrow_function) @scope
(function_expression) @scope

; What variables, members and results hold.
(variable_declarator name: (identifier) value: (new_expression constructor: (identifier) @mark.value))
(variable_declarator name: (identifier) value: (call_expression function: (identifier) @mark.value))
(variable_declarator name: (identifier)
  value: (await_expression (call_expression function: (identifier) @mark.value)))
(assignment_expression right: (new_expression constructor: (identifier) @mark.value))
(return_statement (new_expression constructor: (identifier) @mark.returned))
(required_parameter pattern: (identifier) type: (type_annotation (type_identifier) @mark.value))
(required_parameter pattern: (identifier) type: (type_annotation (generic_type name: (type_identifier) @mark.value)))
(required_parameter pattern: (identifier) type: (type_annotation (union_type (type_identifier) @mark.value)))
(optional_parameter pattern: (identifier) type: (type_annotation (type_identifier) @mark.value))
(optional_parameter pattern: (identifier) type: (type_annotation (generic_type name: (type_identifier) @mark.value)))
(variable_declarator name: (identifier) type: (type_annotation (type_identifier) @mark.value))
(variable_declarator name: (identifier) type: (type_annotation (generic_type name: (type_identifier) @mark.value)))
(variable_declarator name: (identifier) type: (type_annotation (union_type (type_identifier) @mark.value)))
(public_field_definition type: (type_annotation (type_identifier) @mark.value))
(public_field_definition type: (type_annotation (generic_type name: (type_identifier) @mark.value)))
(public_field_definition value: (new_expression constructor: (identifier) @mark.value))
(function_declaration return_type: (type_annotation (type_identifier) @mark.returned))
(method_definition return_type: (type_annotation (type_identifier) @mark.returned))
(arrow_function return_type: (type_annotation (type_identifier) @mark.returned))
