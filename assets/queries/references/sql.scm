(invocation (object_reference name: (identifier) @ref.call))
(create_trigger (object_reference name: (identifier) @ref.call) .)
(column_definition custom_type: (object_reference name: (identifier) @ref.type))
(function_argument custom_type: (object_reference name: (identifier) @ref.type))
(create_function custom_type: (object_reference name: (identifier) @ref.type))
(cast custom_type: (object_reference name: (identifier) @ref.type))

; Tables that are written. Only DELETE has a table in FROM that is no relation.
(insert (object_reference name: (identifier) @ref.assignment))
(update (relation (object_reference name: (identifier) @ref.assignment)))
(from (object_reference name: (identifier) @ref.assignment))

(relation alias: (identifier) @ref.local)
(cte . (identifier) @ref.local)
(function_argument . (identifier) @ref.local)

; Columns: nothing that the symbols of a file define.
(field name: (identifier) @ref.argument)
(field column: (identifier) @ref.argument)
(column (identifier) @ref.argument)
(column_definition (identifier) @ref.argument)
(constraint (identifier) @ref.argument)
(term alias: (identifier) @ref.argument)
(function_language (identifier) @ref.argument)

(literal) @ref.string
(identifier) @ref
