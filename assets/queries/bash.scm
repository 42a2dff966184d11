(function_definition name: (_) @name body: (_)? @body) @function

(program
  (declaration_command ["readonly" "export"] (variable_assignment name: (variable_name) @name)) @constant)
(program
  (declaration_command
    ["declare" "typeset"]
    (word) @_flags
    (variable_assignment name: (variable_name) @name)
    (#match? @_flags "^-[A-Za-z]*[rx]")) @constant)

(comment) @doc

(command
  name: (command_name (word) @_source) . argument: (_) @target
  (#any-of? @_source "source" ".")) @import
