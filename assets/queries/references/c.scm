(call_expression function: (identifier) @ref.call)
(call_expression function: (field_expression field: (field_identifier) @ref.call))
(call_expression function: (parenthesized_expression (pointer_expression argument: (identifier) @ref.call)))

(parameter_declaration declarator: (identifier) @ref.local)
(declaration declarator: (identifier) @ref.local)
(init_declarator declarator: (identifier) @ref.local)
(pointer_declarator declarator: (identifier) @ref.local)
(array_declarator declarator: (identifier) @ref.local)
(field_declaration declarator: (field_identifier) @ref.local)
(pointer_declarator declarator: (field_identifier) @ref.local)
(array_declarator declarator: (field_identifier) @ref.local)
(preproc_params (identifier) @ref.local)
(preproc_arg) @ref.text

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
(update_expression argument: (identifier) @ref.assignment)
(update_expression argument: (field_expression field: (field_identifier) @ref.assignment))

; Not in includes, where a text is the name of a file.
(argument_list (string_literal . (string_content) @ref.string .))
(initializer_list (string_literal . (string_content) @ref.string .))
(init_declarator value: (string_literal . (string_content) @ref.string .))
(field_identifier) @ref.attribute
(type_identifier) @ref.type
(identifier) @ref
