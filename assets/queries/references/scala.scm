(call_expression function: (identifier) @ref.call)
(call_expression function: (field_expression field: (_) @ref.call))
(generic_function function: (identifier) @ref.call)
(generic_function function: (field_expression field: (_) @ref.call))
(instance_expression [(type_identifier) @ref.call
  (stable_type_identifier (type_identifier) @ref.call)
  (generic_type type: (type_identifier) @ref.call)
  (generic_type type: (stable_type_identifier (type_identifier) @ref.call))
  (compound_type base: (type_identifier) @ref.call)
  (compound_type base: (generic_type type: (type_identifier) @ref.call))])
(infix_expression operator: (_) @ref.call @ref.infix)
(postfix_expression (_) . (identifier) @ref.call @ref.infix)
(field_expression field: (_) @ref.attribute)

(import_declaration (identifier) @ref.import)
(import_declaration (namespace_wildcard) @ref.import)
(namespace_selectors (namespace_wildcard) @ref.import @ref.infix)
(namespace_selectors (identifier) @ref.import @ref.infix)
(arrow_renamed_identifier name: (identifier) @ref.import @ref.infix)
(arrow_renamed_identifier alias: (identifier) @ref.alias)
(namespace_selectors (as_renamed_identifier name: (identifier) @ref.import @ref.infix))
(as_renamed_identifier name: (identifier) @ref.import)
(as_renamed_identifier alias: (identifier) @ref.alias)
(export_declaration (identifier) @ref.import)

(extends_clause [(type_identifier) @ref.base
  (stable_type_identifier (type_identifier) @ref.base)
  (generic_type type: (type_identifier) @ref.base)
  (generic_type type: (stable_type_identifier (type_identifier) @ref.base))])

(annotation name: (type_identifier) @ref.decorator)
(annotation name: (stable_type_identifier (type_identifier) @ref.decorator))

; Values of a class count as its variables.
(parameter name: (identifier) @ref.local)
(class_parameter name: (identifier) @ref.local)
(val_definition pattern: (identifier) @ref.local)
(val_definition pattern: (identifiers (identifier) @ref.local))
(var_definition pattern: (identifier) @ref.local)
(val_declaration name: (identifier) @ref.local)
(var_declaration name: (identifier) @ref.local)
(enumerator . (identifier) @ref.local)
(lambda_expression parameters: (identifier) @ref.local)
(binding name: (identifier) @ref.local)
(typed_pattern pattern: (identifier) @ref.local)
(capture_pattern name: (identifier) @ref.local)
(type_parameters name: (identifier) @ref.type_parameter)
(covariant_type_parameter name: (identifier) @ref.type_parameter)
(contravariant_type_parameter name: (identifier) @ref.type_parameter)
(self_type . (identifier) @ref.local)
(simple_enum_case name: (identifier) @ref.local)
(full_enum_case name: (identifier) @ref.local)
; In a pattern, a name in capitals is compared with; any other one is a new variable.
((case_clause pattern: (identifier) @ref.local) (#match? @ref.local "^[a-z_]"))
((case_class_pattern (identifier) @ref.local) (#match? @ref.local "^[a-z_]"))
((tuple_pattern (identifier) @ref.local) (#match? @ref.local "^[a-z_]"))
((infix_pattern (identifier) @ref.local) (#match? @ref.local "^[a-z_]"))

; What variables hold, and what functions return: the declared type, or the class that is called.
(parameter type: [(type_identifier) @mark.value (stable_type_identifier (type_identifier) @mark.value) (generic_type type: (type_identifier) @mark.value)])
(class_parameter type: [(type_identifier) @mark.value (stable_type_identifier (type_identifier) @mark.value) (generic_type type: (type_identifier) @mark.value)])
(val_definition type: [(type_identifier) @mark.value (stable_type_identifier (type_identifier) @mark.value) (generic_type type: (type_identifier) @mark.value)])
(var_definition type: [(type_identifier) @mark.value (stable_type_identifier (type_identifier) @mark.value) (generic_type type: (type_identifier) @mark.value)])
(typed_pattern type: [(type_identifier) @mark.value (stable_type_identifier (type_identifier) @mark.value) (generic_type type: (type_identifier) @mark.value)])
(val_definition value: [
  (instance_expression [(type_identifier) @mark.value (generic_type type: (type_identifier) @mark.value)])
  (call_expression function: (identifier) @mark.value)])
(function_definition return_type: [(type_identifier) @mark.returned (stable_type_identifier (type_identifier) @mark.returned) (generic_type type: (type_identifier) @mark.returned)])
(function_declaration return_type: [(type_identifier) @mark.returned (stable_type_identifier (type_identifier) @mark.returned) (generic_type type: (type_identifier) @mark.returned)])

(assignment_expression left: (identifier) @ref.assignment)
(assignment_expression left: (field_expression field: (_) @ref.assignment))

(arguments (assignment_expression left: (identifier) @ref.argument))
(interpolated_string_expression interpolator: (identifier) @ref.argument)
(access_qualifier (identifier) @ref.argument)
(package_clause name: (package_identifier (identifier) @ref.argument))

(string) @ref.string
(operator_identifier) @ref
(type_identifier) @ref.type
(identifier) @ref
