(call method: (identifier) @ref.call)
(call method: (constant) @ref.call)
(scope_resolution name: (constant) @ref.attribute)
(exceptions (constant) @ref.type)
(exceptions (scope_resolution name: (constant) @ref.type))

(superclass (constant) @ref.base)
(superclass (scope_resolution name: (constant) @ref.base))
; A module gives its methods to a class, as a base class does.
(body_statement
  (call !receiver method: (identifier) @_mix arguments: (argument_list (constant) @ref.base))
  (#any-of? @_mix "include" "extend" "prepend"))
(body_statement
  (call
    !receiver method: (identifier) @_mix
    arguments: (argument_list (scope_resolution name: (constant) @ref.base)))
  (#any-of? @_mix "include" "extend" "prepend"))

(method_parameters (identifier) @ref.local)
(block_parameters (identifier) @ref.local)
(lambda_parameters (identifier) @ref.local)
(destructured_parameter (identifier) @ref.local)
(optional_parameter name: (identifier) @ref.local)
(keyword_parameter name: (identifier) @ref.local)
(splat_parameter name: (identifier) @ref.local)
(hash_splat_parameter name: (identifier) @ref.local)
(block_parameter name: (identifier) @ref.local)
(assignment left: (identifier) @ref.local)
(operator_assignment left: (identifier) @ref.local)
(left_assignment_list (identifier) @ref.local)
(destructured_left_assignment (identifier) @ref.local)
(rest_assignment (identifier) @ref.local)
(exception_variable (identifier) @ref.local)
(for pattern: (identifier) @ref.local)
(in_clause pattern: (identifier) @ref.local)
(array_pattern (identifier) @ref.local)
(as_pattern name: (identifier) @ref.local)
(keyword_pattern value: (identifier) @ref.local)

; `Item` in `item = Item.new` says what the variable holds.
(assignment
  left: [(identifier) (instance_variable)]
  right: (call
    receiver: [(constant) @mark.value (scope_resolution name: (constant) @mark.value)]
    method: (identifier) @_new)
  (#eq? @_new "new"))
(operator_assignment
  left: [(identifier) (instance_variable)]
  right: (call
    receiver: [(constant) @mark.value (scope_resolution name: (constant) @mark.value)]
    method: (identifier) @_new)
  (#eq? @_new "new"))
(assignment left: [(instance_variable) (class_variable) (global_variable)] @ref.assignment)
(operator_assignment left: [(instance_variable) (class_variable) (global_variable)] @ref.assignment)
(left_assignment_list [(instance_variable) (class_variable) (global_variable)] @ref.assignment)
(assignment left: (call method: (identifier) @ref.setter))
(operator_assignment left: (call method: (identifier) @ref.setter))
; The name of `def cost=(value)` has the `=`.
(setter) @ref.assignment

(hash_key_symbol) @ref.argument
(alias name: (identifier) @ref.argument)
(alias alias: (identifier) @ref.attribute)
; The names of files are no names of methods.
(call
  !receiver method: (identifier) @_require
  arguments: (argument_list . (string (string_content) @ref.argument))
  (#any-of? @_require "require" "require_relative" "load" "autoload"))

(simple_symbol) @ref.string
(bare_symbol . (string_content) @ref.string .)
(string . (string_content) @ref.string .)
(identifier) @ref
(constant) @ref
(instance_variable) @ref
(class_variable) @ref
(global_variable) @ref
