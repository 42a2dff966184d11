; Words are texts, and so is the name of a function unless it is called.
(word) @ref.string
(raw_string) @ref.string
(string . (string_content) @ref.string .)
(command_name (word) @ref.call)
; `log::info` is one name.
(command argument: (word) @ref.word (#match? @ref.word "^[A-Za-z_][A-Za-z0-9_]*::[A-Za-z0-9_:]+$"))
; `trap cleanup EXIT` calls a function later.
(command
  name: (command_name (word) @_trap) . argument: (word) @ref.call
  (#eq? @_trap "trap"))
; The name of a file that is sourced, without its folder.
(command
  name: (command_name (word) @_source) . argument: [
    (word) @ref.path
    (raw_string) @ref.path
    (string (string_content) @ref.path .)
    (concatenation (word) @ref.path .)]
  (#any-of? @_source "source" "." "load"))
; `export -f name` is about a function, not a variable.
(declaration_command
  (word) @_flag (variable_name) @ref.string
  (#eq? @_flag "-f"))

(variable_assignment name: (variable_name) @ref.assignment)
(variable_assignment name: (subscript name: (variable_name) @ref.assignment))
(for_statement variable: (variable_name) @ref.assignment)
(declaration_command ["local" "declare" "typeset"] (variable_assignment name: (variable_name) @ref.local))
(declaration_command ["local" "declare" "typeset"] (variable_name) @ref.local)

(function_definition name: (word) @ref)
(variable_name) @ref
