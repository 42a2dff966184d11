(call_expression function: (identifier) @ref.call)
(call_expression function: (member_expression property: (_) @ref.call))
(new_expression constructor: (identifier) @ref.call)
(new_expression constructor: (member_expression property: (_) @ref.call))

(import_clause (identifier) @ref.import)
(import_specifier name: (identifier) @ref.import)
(import_specifier alias: (identifier) @ref.alias)
(namespace_import (identifier) @ref.alias)
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

(class_heritage (identifier) @ref.base)
(class_heritage (member_expression property: (_) @ref.base))

(decorator (identifier) @ref.decorator)
(decorator (member_expression property: (_) @ref.decorator))
(decorator (call_expression function: (identifier) @ref.decorator))
(decorator (call_expression function: (member_expression property: (_) @ref.decorator)))

(formal_parameters (identifier) @ref.local)
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
(class name: (identifier) @ref.local)

(assignment_expression left: (identifier) @ref.assignment)
(assignment_expression left: (member_expression property: (_) @ref.assignment))
(augmented_assignment_expression left: (identifier) @ref.assignment)
(augmented_assignment_expression left: (member_expression property: (_) @ref.assignment))
(update_expression argument: (identifier) @ref.assignment)
(update_expression argument: (member_expression property: (_) @ref.assignment))

; Names of members where they are declared, keys, and labels.
(pair key: (property_identifier) @ref.argument)
(pair_pattern key: (property_identifier) @ref.argument)
(method_definition name: (property_identifier) @ref.argument)
(field_definition property: (property_identifier) @ref.argument)
(field_definition property: (private_property_identifier) @ref.argument)
(statement_identifier) @ref.argument

; A component is called by the tag that shows it; tags in small letters are those of HTML.
(jsx_opening_element name: (identifier) @ref.call)
(jsx_opening_element name: (member_expression property: (_) @ref.call))
(jsx_self_closing_element name: (identifier) @ref.call)
(jsx_self_closing_element name: (member_expression property: (_) @ref.call))
(jsx_attribute . (property_identifier) @ref.argument)
([(jsx_opening_element name: (identifier) @ref.argument)
  (jsx_self_closing_element name: (identifier) @ref.argument)
  (jsx_closing_element name: (identifier) @ref.argument)]
  (#match? @ref.argument "^[a-z]"))

(import_statement source: (string (string_fragment) @ref.argument))
(export_statement source: (string (string_fragment) @ref.argument))
((call_expression function: [(identifier) (import)] @_call arguments: (arguments . (string (string_fragment) @ref.argument)))
  (#any-of? @_call "require" "import"))
(string . (string_fragment) @ref.string .)
(property_identifier) @ref.attribute
(private_property_identifier) @ref.attribute
(shorthand_property_identifier) @ref
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
