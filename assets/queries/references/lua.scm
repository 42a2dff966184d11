(function_call name: (identifier) @ref.call)
(function_call name: (dot_index_expression field: (identifier) @ref.call))
(function_call name: (method_index_expression method: (identifier) @ref.call))
(dot_index_expression field: (identifier) @ref.attribute)

(assignment_statement (variable_list name: (identifier) @ref.assignment))
(assignment_statement (variable_list name: (dot_index_expression field: (identifier) @ref.assignment)))
(variable_declaration (variable_list name: (identifier) @ref.local))
(variable_declaration (assignment_statement (variable_list name: (identifier) @ref.local)))
(parameters name: (identifier) @ref.local)
(for_generic_clause (variable_list name: (identifier) @ref.local))
(for_numeric_clause name: (identifier) @ref.local)

(field name: (identifier) @ref.argument)
; `[name] = value`: the name of a variable
(field "[" name: (identifier) @ref.plain)
(goto_statement (identifier) @ref.argument)
(label_statement (identifier) @ref.argument)
(attribute (identifier) @ref.argument)

; The name of a module as a whole.
((function_call name: (identifier) @_require arguments: (arguments . (string content: (string_content) @ref.import) .))
  (#eq? @_require "require"))
(string content: (string_content) @ref.string)
(identifier) @ref
