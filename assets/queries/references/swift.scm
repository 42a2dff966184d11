(call_expression . (simple_identifier) @ref.call . (call_suffix (value_arguments "(")))
(call_expression . (simple_identifier) @ref.call . (call_suffix (lambda_literal)))
(call_expression . (navigation_expression
  suffix: (navigation_suffix suffix: (simple_identifier) @ref.call)) . (call_suffix (value_arguments "(")))
(call_expression . (navigation_expression
  suffix: (navigation_suffix suffix: (simple_identifier) @ref.call)) . (call_suffix (lambda_literal)))
(call_expression . (prefix_expression target: (simple_identifier) @ref.call))
; The grammar takes the whole of `2 * area(x)` for what is called.
(call_expression . (multiplicative_expression rhs: (simple_identifier) @ref.call))
(call_expression . (additive_expression rhs: (simple_identifier) @ref.call))
(constructor_expression constructed_type: (user_type (type_identifier) @ref.call .))
(constructor_expression constructed_type: (user_type (type_identifier) @ref.call . (type_arguments)))
(macro_invocation . (simple_identifier) @ref.call)

(navigation_suffix suffix: (simple_identifier) @ref.attribute)
(prefix_expression "." target: (simple_identifier) @ref.attribute)

(import_declaration (identifier (simple_identifier) @ref.import))
(inheritance_specifier inherits_from: (user_type (type_identifier) @ref.base .))
(inheritance_specifier inherits_from: (user_type (type_identifier) @ref.base . (type_arguments)))
(attribute (user_type (type_identifier) @ref.decorator))

(type_parameter . (type_identifier) @ref.type_parameter)
(parameter name: (simple_identifier) @ref.local)
(lambda_parameter name: (simple_identifier) @ref.local)
(capture_list_item name: (simple_identifier) @ref.local value: (_))
(pattern bound_identifier: (simple_identifier) @ref.local)
(pattern (value_binding_pattern) (pattern (simple_identifier) @ref.local))
(property_declaration name: (pattern (pattern (simple_identifier) @ref.local)))
(for_statement item: (pattern (pattern (simple_identifier) @ref.local)))
(if_statement condition: (value_binding_pattern) condition: (pattern . (simple_identifier) @ref.local))
(guard_statement bound_identifier: (simple_identifier) @ref.local)
(if_statement bound_identifier: (simple_identifier) @ref.local)
(while_statement bound_identifier: (simple_identifier) @ref.local)
(computed_setter (simple_identifier) @ref.local)

(parameter external_name: (simple_identifier) @ref.argument)
(value_argument_label (simple_identifier) @ref.argument)
(call_suffix name: (simple_identifier) @ref.argument)
(tuple_expression name: (simple_identifier) @ref.argument)
(tuple_type_item name: (simple_identifier) @ref.argument)
(enum_entry name: (simple_identifier) @ref.argument)
(enum_type_parameters (simple_identifier) @ref.argument)
(attribute (simple_identifier) @ref.argument)

(directly_assignable_expression (simple_identifier) @ref.assignment)
(directly_assignable_expression (navigation_expression
  suffix: (navigation_suffix suffix: (simple_identifier) @ref.assignment)))

(line_string_literal . text: (line_str_text) @ref.string .)
(type_identifier) @ref.type
(simple_identifier) @ref
