(create_table
  (keyword_table) (object_reference schema: (_)? @parent name: (_) @name)
  [(column_definitions) (keyword_as)]? @body) @table
(create_view (object_reference schema: (_)? @parent name: (_) @name) (keyword_as)? @body) @view
(create_materialized_view (object_reference schema: (_)? @parent name: (_) @name) (keyword_as)? @body) @view
(create_index column: (_) @name) @index
(create_function
  (keyword_function) . (object_reference schema: (_)? @parent name: (_) @name)
  (function_body)? @body) @function
(create_trigger (keyword_trigger) . (object_reference schema: (_)? @parent name: (_) @name)) @trigger
(create_type (keyword_type) . (object_reference schema: (_)? @parent name: (_) @name)) @type
(create_sequence (object_reference schema: (_)? @parent name: (_) @name)) @sequence
(create_schema (identifier) @name) @schema
; Functions that the grammar cannot parse to the end, such as those that return values in OUT parameters.
(ERROR
  (keyword_create) @function (keyword_function) .
  (object_reference schema: (_)? @parent name: (_) @name) . (function_arguments) @function)

[(comment) (marginalia)] @doc
