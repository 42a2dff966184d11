(method_invocation name: (identifier) @ref.call)
(object_creation_expression type: (type_identifier) @ref.call)
(object_creation_expression type: (generic_type . (type_identifier) @ref.call))
(object_creation_expression type: (scoped_type_identifier (type_identifier) @ref.call .))
(object_creation_expression type: (generic_type . (scoped_type_identifier (type_identifier) @ref.call .)))
(method_invocation object: (_) type_arguments: (_) name: (identifier) @ref.infix)
(field_access field: (identifier) @ref.attribute)
; Methods and variables have names of their own, so a reference to a method counts as a call.
(method_reference (_) "::" (identifier) @ref.call .)

(import_declaration (identifier) @ref.import)
(import_declaration (asterisk) @ref.import)
(import_declaration (scoped_identifier name: (identifier) @ref.import))
(import_declaration (scoped_identifier scope: (identifier) @ref.import))
(import_declaration (scoped_identifier scope: (scoped_identifier name: (identifier) @ref.import)))
; The folders of packages.
(scoped_identifier scope: (scoped_identifier scope: (identifier) @ref.argument))
(scoped_identifier scope: (scoped_identifier name: (identifier) @ref.argument))
(package_declaration (scoped_identifier name: (identifier) @ref.argument))
(package_declaration (scoped_identifier scope: (identifier) @ref.argument))
(package_declaration (identifier) @ref.argument)

(superclass [(type_identifier) @ref.base
  (scoped_type_identifier (type_identifier) @ref.base .)
  (generic_type . (type_identifier) @ref.base)
  (generic_type . (scoped_type_identifier (type_identifier) @ref.base .))])
(super_interfaces (type_list [(type_identifier) @ref.base
  (scoped_type_identifier (type_identifier) @ref.base .)
  (generic_type . (type_identifier) @ref.base)
  (generic_type . (scoped_type_identifier (type_identifier) @ref.base .))]))
(extends_interfaces (type_list [(type_identifier) @ref.base
  (scoped_type_identifier (type_identifier) @ref.base .)
  (generic_type . (type_identifier) @ref.base)
  (generic_type . (scoped_type_identifier (type_identifier) @ref.base .))]))

(marker_annotation name: (identifier) @ref.decorator)
(marker_annotation name: (scoped_identifier name: (identifier) @ref.decorator))
(annotation name: (identifier) @ref.decorator)
(annotation name: (scoped_identifier name: (identifier) @ref.decorator))

; Fields count as variables of their class.
(variable_declarator name: (identifier) @ref.local)
(formal_parameter name: (identifier) @ref.local)
(enhanced_for_statement name: (identifier) @ref.local)
(catch_formal_parameter name: (identifier) @ref.local)
(resource name: (identifier) @ref.local)
(lambda_expression parameters: (identifier) @ref.local)
(inferred_parameters (identifier) @ref.local)
(instanceof_expression name: (identifier) @ref.local)
(type_pattern (identifier) @ref.local)
(record_pattern_component (identifier) @ref.local)
(type_parameter . (type_identifier) @ref.type_parameter)
(enum_constant name: (identifier) @ref.local)

; The type before a variable says what it holds.
(formal_parameter type: [
  (type_identifier) @mark.entered
  (scoped_type_identifier (type_identifier) @mark.entered .)
  (generic_type . (type_identifier) @mark.entered)
  (generic_type . (scoped_type_identifier (type_identifier) @mark.entered .))])
(local_variable_declaration type: [
  (type_identifier) @mark.entered
  (scoped_type_identifier (type_identifier) @mark.entered .)
  (generic_type . (type_identifier) @mark.entered)
  (generic_type . (scoped_type_identifier (type_identifier) @mark.entered .))])
(field_declaration type: [
  (type_identifier) @mark.entered
  (scoped_type_identifier (type_identifier) @mark.entered .)
  (generic_type . (type_identifier) @mark.entered)
  (generic_type . (scoped_type_identifier (type_identifier) @mark.entered .))])
(enhanced_for_statement type: [
  (type_identifier) @mark.entered
  (scoped_type_identifier (type_identifier) @mark.entered .)
  (generic_type . (type_identifier) @mark.entered)
  (generic_type . (scoped_type_identifier (type_identifier) @mark.entered .))])
(resource type: [
  (type_identifier) @mark.entered
  (scoped_type_identifier (type_identifier) @mark.entered .)
  (generic_type . (type_identifier) @mark.entered)
  (generic_type . (scoped_type_identifier (type_identifier) @mark.entered .))])
(instanceof_expression right: (type_identifier) @mark.entered name: (_))
(type_pattern (type_identifier) @mark.entered)

(assignment_expression left: (identifier) @ref.assignment)
(assignment_expression left: (field_access field: (identifier) @ref.assignment))
(update_expression (identifier) @ref.assignment)
(update_expression (field_access field: (identifier) @ref.assignment))

(element_value_pair key: (identifier) @ref.argument)
(labeled_statement . (identifier) @ref.argument)
(break_statement (identifier) @ref.argument)
(continue_statement (identifier) @ref.argument)

(string_literal . (string_fragment) @ref.string .)
(record_pattern . (identifier) @ref.type)
(type_identifier) @ref.type
(identifier) @ref
