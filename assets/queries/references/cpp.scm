(call_expression function: (identifier) @ref.call)
(call_expression function: (field_expression field: (field_identifier) @ref.call))
(call_expression function: (field_expression field: (qualified_identifier name: (field_identifier) @ref.call)))
(call_expression function: (qualified_identifier name: (identifier) @ref.call))
(call_expression function: (qualified_identifier name: (qualified_identifier name: (identifier) @ref.call)))
(call_expression function: (qualified_identifier
  name: (qualified_identifier name: (qualified_identifier name: (identifier) @ref.call))))
(call_expression function: (parenthesized_expression (pointer_expression argument: (identifier) @ref.call)))
(call_expression function: (template_function name: (identifier) @ref.call))
(call_expression function: (qualified_identifier name: (template_function name: (identifier) @ref.call)))
(call_expression function: (qualified_identifier
  name: (qualified_identifier name: (template_function name: (identifier) @ref.call))))
(call_expression function: (qualified_identifier
  name: (qualified_identifier name: (qualified_identifier name: (template_function name: (identifier) @ref.call)))))
(call_expression function: (field_expression field: (template_method name: (field_identifier) @ref.call)))
(call_expression function: (field_expression field: (dependent_name (template_method name: (field_identifier) @ref.call))))
(new_expression type: (type_identifier) @ref.call)
(new_expression type: (qualified_identifier name: (type_identifier) @ref.call))
(new_expression type: (template_type name: (type_identifier) @ref.call))
(compound_literal_expression type: (type_identifier) @ref.call)
(compound_literal_expression type: (qualified_identifier name: (type_identifier) @ref.call))
; A constructor initialises its fields, and calls those of its bases, whose names are in capitals.
(field_initializer (field_identifier) @ref.assignment)
(field_initializer (field_identifier) @ref.call (#match? @ref.call "^[A-Z]"))

(using_declaration (identifier) @ref.import)
(using_declaration (qualified_identifier scope: (namespace_identifier) @ref.import))
(using_declaration (qualified_identifier name: (identifier) @ref.import))
(using_declaration (qualified_identifier name: (qualified_identifier name: (identifier) @ref.import)))
(namespace_alias_definition (nested_namespace_specifier (namespace_identifier) @ref.import))
(namespace_alias_definition (namespace_identifier) @ref.import)
(namespace_alias_definition name: (namespace_identifier) @ref.alias)

(base_class_clause (type_identifier) @ref.base)
(base_class_clause (template_type name: (type_identifier) @ref.base))
(base_class_clause (qualified_identifier name: (type_identifier) @ref.base))
(base_class_clause (qualified_identifier name: (template_type name: (type_identifier) @ref.base)))
(base_class_clause (qualified_identifier name: (qualified_identifier name: (type_identifier) @ref.base)))

(type_parameter_declaration (type_identifier) @ref.local)
(optional_type_parameter_declaration name: (type_identifier) @ref.local)
(variadic_type_parameter_declaration (type_identifier) @ref.local)
(parameter_declaration declarator: (identifier) @ref.local)
(optional_parameter_declaration declarator: (identifier) @ref.local)
(declaration declarator: (identifier) @ref.local)
(init_declarator declarator: (identifier) @ref.local)
(pointer_declarator declarator: (identifier) @ref.local)
(reference_declarator (identifier) @ref.local)
(array_declarator declarator: (identifier) @ref.local)
(variadic_declarator (identifier) @ref.local)
(structured_binding_declarator (identifier) @ref.local)
(for_range_loop declarator: (identifier) @ref.local)
(lambda_capture_initializer left: (identifier) @ref.local)
(field_declaration declarator: (field_identifier) @ref.local)
(pointer_declarator declarator: (field_identifier) @ref.local)
(reference_declarator (field_identifier) @ref.local)
(array_declarator declarator: (field_identifier) @ref.local)
(preproc_params (identifier) @ref.local)
(preproc_arg) @ref.text

(destructor_name (identifier) @ref.argument)
(preproc_def name: (identifier) @ref.argument)
(preproc_function_def name: (identifier) @ref.argument)
; In `typedef struct Item Item`, the last name is the one that is defined.
(type_definition type: (_) declarator: (type_identifier) @ref.local)
; The own name of a type that a typedef names too.
(type_definition type: (struct_specifier name: (type_identifier) @ref.argument body: (_)))
(type_definition type: (enum_specifier name: (type_identifier) @ref.argument body: (_)))
(type_definition type: (union_specifier name: (type_identifier) @ref.argument body: (_)))
(enumerator name: (identifier) @ref.argument)
(field_designator (field_identifier) @ref.argument)
(statement_identifier) @ref.argument

(assignment_expression left: (identifier) @ref.assignment)
(assignment_expression left: (field_expression field: (field_identifier) @ref.assignment))
(assignment_expression left: (qualified_identifier name: (identifier) @ref.assignment))
(update_expression argument: (identifier) @ref.assignment)
(update_expression argument: (field_expression field: (field_identifier) @ref.assignment))

(attribute name: (identifier) @ref.decorator)

; Not in includes, where a text is the name of a file.
(argument_list (string_literal . (string_content) @ref.string .))
(initializer_list (string_literal . (string_content) @ref.string .))
(init_declarator value: (string_literal . (string_content) @ref.string .))
(field_identifier) @ref.attribute
(type_identifier) @ref.type
(namespace_identifier) @ref
(identifier) @ref

; A class that is only announced.
((class_specifier name: (type_identifier) @ref.argument !body) . ";")
((struct_specifier name: (type_identifier) @ref.argument !body) . ";")

; Types of variables, members and results.
(declaration type: (type_identifier) @mark.entered)
(declaration type: (qualified_identifier name: (type_identifier) @mark.entered))
(parameter_declaration type: (type_identifier) @mark.entered)
(parameter_declaration type: (qualified_identifier name: (type_identifier) @mark.entered))
(optional_parameter_declaration type: (type_identifier) @mark.entered)
(field_declaration type: (type_identifier) @mark.entered)
(field_declaration type: (qualified_identifier name: (type_identifier) @mark.entered))
(for_range_loop type: (type_identifier) @mark.entered)
((template_type name: (type_identifier) @_pointer
  arguments: (template_argument_list . (type_descriptor type: (type_identifier) @mark.entered)))
  (#any-of? @_pointer "unique_ptr" "shared_ptr" "scoped_ptr" "scoped_refptr"))
(declaration type: (placeholder_type_specifier)
  declarator: (init_declarator value: (call_expression function: (identifier) @mark.value)))
(declaration type: (placeholder_type_specifier)
  declarator: (init_declarator value: (call_expression function: (qualified_identifier name: (identifier) @mark.value))))
(declaration type: (placeholder_type_specifier)
  declarator: (init_declarator value: (new_expression type: (type_identifier) @mark.value)))
(declaration type: (placeholder_type_specifier)
  declarator: (init_declarator value: (new_expression type: (qualified_identifier name: (type_identifier) @mark.value))))
(function_definition type: (type_identifier) @mark.returned)
(field_declaration type: (type_identifier) @mark.returned declarator: (function_declarator))
(field_declaration type: (type_identifier) @mark.returned declarator: (_ (function_declarator)))
(declaration type: (type_identifier) @mark.returned declarator: (function_declarator declarator: (identifier)))
; What a test of GoogleTest is called: `TEST(Suite, Name) { … }`. TEST_F takes a class.
((function_definition
  !type
  declarator: (function_declarator
    declarator: (identifier) @_macro
    parameters: (parameter_list (parameter_declaration type: (type_identifier) @ref.argument))))
  (#eq? @_macro "TEST"))
((function_definition
  !type
  declarator: (function_declarator
    declarator: (identifier) @_macro
    parameters: (parameter_list . (parameter_declaration) . (parameter_declaration type: (type_identifier) @ref.argument))))
  (#any-of? @_macro "TEST_F" "TEST_P"))
