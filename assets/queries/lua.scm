(function_declaration name: (identifier) @name body: (_)? @body "end"? @body) @function
(function_declaration
  name: (dot_index_expression table: (_) @parent field: (_) @name)
  body: (_)? @body "end"? @body) @function
(function_declaration
  name: (method_index_expression table: (_) @parent method: (_) @name)
  body: (_)? @body "end"? @body) @method

(assignment_statement
  (variable_list . name: (identifier) @name)
  (expression_list . (function_definition body: (_)? @body "end"? @body))) @function
(assignment_statement
  (variable_list . name: (_ table: (_) @parent field: (_) @name))
  (expression_list . (function_definition body: (_)? @body "end"? @body))) @function
(variable_declaration (assignment_statement (expression_list . (function_definition)))) @outer

(assignment_statement
  (variable_list . name: (_) @parent)
  (expression_list . (table_constructor
    (field name: (_) @name value: (function_definition body: (_)? @body "end"? @body)) @function)))
(field name: (_) @name value: (function_definition body: (_)? @body "end"? @body)) @function

; `local M = {}` is not a constant, although its name is in capitals.
(chunk
  (variable_declaration (assignment_statement (variable_list . name: (identifier) @name))) @constant
  (#match? @name "^_?[A-Z][A-Z0-9_]"))
(chunk
  (assignment_statement (variable_list . name: (identifier) @name)) @constant
  (#match? @name "^_?[A-Z][A-Z0-9_]"))
(chunk
  (assignment_statement (variable_list . name: (dot_index_expression table: (_) @parent field: (_) @name))) @constant)

(comment) @doc

(function_call
  name: (identifier) @_require
  arguments: (arguments . (string) @target)
  (#eq? @_require "require")) @import
