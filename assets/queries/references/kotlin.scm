(call_expression . (simple_identifier) @ref.call)
(call_expression . (navigation_expression (navigation_suffix (simple_identifier) @ref.call) .))
(infix_expression (_) . (simple_identifier) @ref.call @ref.infix . (_))
(navigation_suffix (simple_identifier) @ref.attribute)
; Functions and variables have names of their own, so a reference to a function counts as a call.
(callable_reference (simple_identifier) @ref.call .)

(import_header (identifier (simple_identifier) @ref.import))
(import_header (wildcard_import) @ref.import)
(import_alias (type_identifier) @ref.alias)

; What an object without a name extends is no base of the class around it.
(class_declaration (delegation_specifier [
  (user_type (type_identifier) @ref.base .)
  (user_type (type_identifier) @ref.base . (type_arguments))
  (constructor_invocation (user_type (type_identifier) @ref.base .))
  (constructor_invocation (user_type (type_identifier) @ref.base . (type_arguments)))
  (explicit_delegation (user_type (type_identifier) @ref.base .))
  (explicit_delegation (user_type (type_identifier) @ref.base . (type_arguments)))]))
([(object_declaration (delegation_specifier [
    (user_type (type_identifier) @ref.base .)
    (user_type (type_identifier) @ref.base . (type_arguments))
    (constructor_invocation (user_type (type_identifier) @ref.base .))
    (constructor_invocation (user_type (type_identifier) @ref.base . (type_arguments)))]))
  (companion_object (delegation_specifier [
    (user_type (type_identifier) @ref.base .)
    (user_type (type_identifier) @ref.base . (type_arguments))
    (constructor_invocation (user_type (type_identifier) @ref.base .))
    (constructor_invocation (user_type (type_identifier) @ref.base . (type_arguments)))]))])

(file_annotation (constructor_invocation (user_type (type_identifier) @ref.decorator .)))
(file_annotation (user_type (type_identifier) @ref.decorator .))
(annotation (user_type (type_identifier) @ref.decorator .))
(annotation (constructor_invocation (user_type (type_identifier) @ref.decorator .)))

; Properties count as variables of their class.
(variable_declaration . (simple_identifier) @ref.local)
(parameter . (simple_identifier) @ref.local)
(class_parameter (simple_identifier) @ref.local . ":")
(parameter_with_optional_type . (simple_identifier) @ref.local)
(catch_block (simple_identifier) @ref.local . ":")
(type_parameter (type_identifier) @ref.type_parameter)
(enum_entry (simple_identifier) @ref.local)

; What variables hold, and what functions return: the declared type, or the class that is called.
(function_value_parameters (parameter [(user_type (type_identifier) @mark.value) (nullable_type (user_type (type_identifier) @mark.value))]))
(class_parameter [(user_type (type_identifier) @mark.value) (nullable_type (user_type (type_identifier) @mark.value))])
(variable_declaration [(user_type (type_identifier) @mark.value) (nullable_type (user_type (type_identifier) @mark.value))])
(property_declaration (variable_declaration) . (call_expression . (simple_identifier) @mark.value))
(function_declaration (function_value_parameters) . [(user_type (type_identifier) @mark.returned) (nullable_type (user_type (type_identifier) @mark.returned))])

(directly_assignable_expression . (simple_identifier) @ref.assignment .)
(directly_assignable_expression (navigation_suffix (simple_identifier) @ref.assignment) .)
(postfix_expression . (simple_identifier) @ref.assignment . ["++" "--"])
(postfix_expression . (navigation_expression (navigation_suffix (simple_identifier) @ref.assignment) .) . ["++" "--"])
(prefix_expression ["++" "--"] . (simple_identifier) @ref.assignment)

(value_argument . (simple_identifier) @ref.argument . "=")
(function_type_parameters (parameter . (simple_identifier) @ref.argument))
(package_header (identifier (simple_identifier) @ref.argument))

(string_literal . (string_content) @ref.string .)
(interpolated_identifier) @ref
(type_identifier) @ref.type
(simple_identifier) @ref
