(call_expression function: (identifier) @ref.call)
(call_expression function: (selector_expression field: (_) @ref.call))
; A call with types is parsed as a conversion: `Max[int](x)`.
(type_conversion_expression type: (generic_type type: (type_identifier) @ref.call))
(type_conversion_expression type: (generic_type type: (qualified_type name: (_) @ref.call)))

; The last part of a path is the name of its package, unless the import gives another one. `.` brings every name.
(import_spec !name path: (_ (_) @ref.path))
(import_spec name: (blank_identifier) path: (_ (_) @ref.path))
(import_spec name: (package_identifier) @ref.alias)

(field_declaration !name type: (type_identifier) @ref.base)
(field_declaration !name type: (qualified_type name: (_) @ref.base))
(field_declaration !name type: (generic_type type: (type_identifier) @ref.base))
(field_declaration !name type: (generic_type type: (qualified_type name: (_) @ref.base)))
(interface_type (type_elem . (type_identifier) @ref.base .))
(interface_type (type_elem . (qualified_type name: (_) @ref.base) .))
(interface_type (type_elem . (generic_type type: (type_identifier) @ref.base) .))
(interface_type (type_elem . (generic_type type: (qualified_type name: (_) @ref.base)) .))

(parameter_declaration name: (identifier) @ref.local)
(variadic_parameter_declaration name: (identifier) @ref.local)
(type_parameter_declaration name: (identifier) @ref.type_parameter)
; `func (s *Stack[T]) Push(item T)`
(method_declaration receiver: (parameter_list (parameter_declaration type: [
  (generic_type type_arguments: (type_arguments (type_elem (type_identifier) @ref.type_parameter)))
  (pointer_type (generic_type type_arguments: (type_arguments (type_elem (type_identifier) @ref.type_parameter))))])))
(short_var_declaration left: (expression_list (identifier) @ref.local))
(var_spec name: (identifier) @ref.local)
(const_spec (identifier) @ref.local)
(range_clause left: (expression_list (identifier) @ref.local) ":=")
(receive_statement left: (expression_list (identifier) @ref.local) ":=")
(type_switch_statement alias: (expression_list (identifier) @ref.local))

; What variables hold, and what functions return: the declared type, or the type of a literal or call.
(parameter_declaration name: (_) type: [
  (type_identifier) @mark.value
  (qualified_type name: (_) @mark.value)
  (generic_type type: (type_identifier) @mark.value)
  (pointer_type [
    (type_identifier) @mark.value
    (qualified_type name: (_) @mark.value)
    (generic_type type: (type_identifier) @mark.value)])])
(var_spec type: [
  (type_identifier) @mark.value
  (qualified_type name: (_) @mark.value)
  (generic_type type: (type_identifier) @mark.value)
  (pointer_type [
    (type_identifier) @mark.value
    (qualified_type name: (_) @mark.value)
    (generic_type type: (type_identifier) @mark.value)])])
(short_var_declaration right: (expression_list . [
  (composite_literal type: [(type_identifier) @mark.value (qualified_type name: (_) @mark.value)])
  (unary_expression operand: (composite_literal type: [
    (type_identifier) @mark.value
    (qualified_type name: (_) @mark.value)]))
  (call_expression function: [(identifier) @mark.value (selector_expression field: (_) @mark.value)])] .))
(function_declaration result: [
  (type_identifier) @mark.returned
  (qualified_type name: (_) @mark.returned)
  (generic_type type: (type_identifier) @mark.returned)
  (pointer_type [
    (type_identifier) @mark.returned
    (qualified_type name: (_) @mark.returned)
    (generic_type type: (type_identifier) @mark.returned)])])
(method_declaration result: [
  (type_identifier) @mark.returned
  (qualified_type name: (_) @mark.returned)
  (generic_type type: (type_identifier) @mark.returned)
  (pointer_type [
    (type_identifier) @mark.returned
    (qualified_type name: (_) @mark.returned)
    (generic_type type: (type_identifier) @mark.returned)])])

(assignment_statement left: (expression_list (identifier) @ref.assignment))
(assignment_statement left: (expression_list (selector_expression field: (_) @ref.assignment)))
(inc_statement (identifier) @ref.assignment)
(inc_statement (selector_expression field: (_) @ref.assignment))
(dec_statement (identifier) @ref.assignment)
(dec_statement (selector_expression field: (_) @ref.assignment))

; Fields where they are declared or set in a literal, labels, the package, and parameters that only document a type.
(field_declaration name: (field_identifier) @ref.argument)
(composite_literal type: [(type_identifier) (qualified_type) (generic_type)]
  body: (literal_value (keyed_element key: (literal_element (identifier) @ref.argument))))
(literal_element (literal_value (keyed_element key: (literal_element (identifier) @ref.argument))))
(function_type parameters: (parameter_list (_ name: (identifier) @ref.argument)))
(package_clause (package_identifier) @ref.argument)
(label_name) @ref.argument

(interpreted_string_literal . (interpreted_string_literal_content) @ref.string .)
(field_identifier) @ref.attribute
(type_identifier) @ref.type
(package_identifier) @ref
(identifier) @ref

; A function without a name has variables of its own.
(func_literal) @scope
