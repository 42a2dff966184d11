(module name: [(constant) @name (scope_resolution) @qualified] body: (_)? @body "end"? @body) @module
(class name: [(constant) @name (scope_resolution) @qualified] body: (_)? @body "end"? @body) @class
(assignment
  left: (constant) @name
  right: (call receiver: (constant) @_base method: (identifier) @_make block: (_)? @body)
  (#any-of? @_base "Class" "Struct" "Data") (#any-of? @_make "new" "define")) @class

; Functions in a class become methods anyway. These patterns do the same in modules and the like.
(module (body_statement (method name: (_) @name body: (_)? @body "end"? @body) @method))
(singleton_class (body_statement (method name: (_) @name body: (_)? @body "end"? @body) @method))
(argument_list (method name: (_) @name body: (_)? @body "end"? @body) @method)
(method name: (_) @name body: (_)? @body "end"? @body) @function
(singleton_method object: (_) @parent name: (_) @name body: (_)? @body "end"? @body) @method

(assignment left: (constant) @name) @constant

(call !receiver method: (identifier) arguments: (argument_list . [(method) (singleton_method)] .)) @outer
(body_statement (identifier) @access (#any-of? @access "private" "protected" "public"))
(program (identifier) @access (#any-of? @access "private" "protected" "public"))
(comment) @doc

(call
  !receiver
  method: (identifier) @_require
  arguments: (argument_list . (string) @target)
  (#any-of? @_require "require" "require_relative")) @import
