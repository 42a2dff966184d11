(call function: (identifier) @ref.call)
(call function: (attribute attribute: (identifier) @ref.call))
(attribute attribute: (identifier) @ref.attribute)

(import_statement name: (dotted_name (identifier) @ref.import))
(import_statement name: (aliased_import name: (dotted_name (identifier) @ref.import)))
(future_import_statement name: (dotted_name (identifier) @ref.import))
; The path of a module: its names are no definitions, even if one of the module has the same name.
(import_from_statement module_name: (dotted_name (identifier) @ref.argument))
(import_from_statement module_name: (relative_import (dotted_name (identifier) @ref.argument)))
(import_from_statement name: (dotted_name (identifier) @ref.import))
(import_from_statement name: (aliased_import name: (dotted_name (identifier) @ref.import)))
(aliased_import alias: (identifier) @ref.alias)

(class_definition superclasses: (argument_list (identifier) @ref.base))
(class_definition superclasses: (argument_list (attribute attribute: (identifier) @ref.base)))
(class_definition superclasses: (argument_list (subscript value: (identifier) @ref.base)))
(class_definition superclasses: (argument_list (subscript value: (attribute attribute: (identifier) @ref.base))))

(type (identifier) @ref.type @mark.value)
(type (attribute attribute: (identifier) @ref.type @mark.value))
(type (generic_type (identifier) @ref.type @mark.value))
(type (subscript (identifier) @ref.type @mark.value))
(type (subscript value: (attribute attribute: (identifier) @ref.type @mark.value)))
; `A | B`, and the first two of `A | B | C`
(type (binary_operator (identifier) @ref.type @mark.value))
(type (binary_operator (attribute attribute: (identifier) @ref.type @mark.value)))
(type (binary_operator (subscript (identifier) @ref.type @mark.value)))
(type (binary_operator (binary_operator (identifier) @ref.type @mark.value)))
(function_definition type_parameters: (type_parameter (type (identifier) @ref.local)))
(class_definition type_parameters: (type_parameter (type (identifier) @ref.local)))

(function_definition return_type: (type [
  (identifier) @mark.returned
  (attribute attribute: (identifier) @mark.returned)
  (generic_type (identifier) @mark.returned)
  (generic_type (type_parameter (type (identifier) @mark.returned)))
  (subscript value: (attribute attribute: (identifier) @mark.returned))
  (binary_operator (identifier) @mark.returned)
  (binary_operator (attribute attribute: (identifier) @mark.returned))
]))
(return_statement [
  (identifier) @mark.returned
  (attribute attribute: (identifier) @mark.returned)
  (call function: [(identifier) @mark.returned (attribute attribute: (identifier) @mark.returned)])
])
(assignment left: [(identifier) (attribute)] right: [
  (identifier) @mark.value
  (attribute attribute: (identifier) @mark.value)
  (call function: [(identifier) @mark.value (attribute attribute: (identifier) @mark.value)])
  (await (call function: [(identifier) @mark.value (attribute attribute: (identifier) @mark.value)]))
  (boolean_operator right: (call function: (identifier) @mark.value))
])
(named_expression value: [
  (identifier) @mark.value
  (call function: [(identifier) @mark.value (attribute attribute: (identifier) @mark.value)])
])
(as_pattern
  (call function: [(identifier) @mark.entered (attribute attribute: (identifier) @mark.entered)])
  alias: (as_pattern_target (identifier)))

(decorator (identifier) @ref.decorator)
(decorator (attribute attribute: (identifier) @ref.decorator))
(decorator (call function: (identifier) @ref.decorator))
(decorator (call function: (attribute attribute: (identifier) @ref.decorator)))

(parameters (identifier) @ref.local)
(lambda_parameters (identifier) @ref.local)
(typed_parameter . (identifier) @ref.local)
(default_parameter name: (identifier) @ref.local)
(typed_default_parameter name: (identifier) @ref.local)
(list_splat_pattern (identifier) @ref.local)
(dictionary_splat_pattern (identifier) @ref.local)
(assignment left: (identifier) @ref.local)
(named_expression name: (identifier) @ref.local)
(augmented_assignment left: (identifier) @ref.assignment)
(for_statement left: (identifier) @ref.local)
(for_in_clause left: (identifier) @ref.local)
(pattern_list (identifier) @ref.local)
(tuple_pattern (identifier) @ref.local)
(list_pattern (identifier) @ref.local)
(as_pattern_target (identifier) @ref.local)
(as_pattern_target (tuple (identifier) @ref.local))
; A lone name in `case` is a variable; a dotted one is a value, and one with brackets a class.
(case_pattern (dotted_name . (identifier) @ref.local .))
(keyword_pattern (dotted_name . (identifier) @ref.local .))
(keyword_pattern . (identifier) @ref.argument)
(splat_pattern (identifier) @ref.local)
(as_pattern (case_pattern) (identifier) @ref.local)
(class_pattern (dotted_name (identifier) @ref.type .))
(assignment left: (attribute attribute: (identifier) @ref.assignment))
(augmented_assignment left: (attribute attribute: (identifier) @ref.assignment))
(global_statement (identifier) @ref.outer)
(nonlocal_statement (identifier) @ref.outer)
(keyword_argument name: (identifier) @ref.argument)

(string . (string_start) . (string_content) @ref.string . (string_end) .)
(identifier) @ref
