(function_declaration name: (_) @name body: (_)? @body) @function
(generator_function_declaration name: (_) @name body: (_)? @body) @function
(class_declaration name: (_) @name body: (_)? @body) @class
(class_body (method_definition name: (_) @name body: (_)? @body) @method)
((ERROR (method_definition name: (_) @name body: (_)? @body) @method)
  (#not-match? @name "^(if|for|while|switch|catch|function)$"))
(field_definition property: (_) @name value: (_ body: (_) @body)) @method

; A variable whose value is a class or function: the whole statement if it declares nothing else.
(_ . (variable_declarator name: (identifier) @name value: (class body: (_) @body)) .) @class
(_ . (variable_declarator name: (identifier) @name value: (_ body: (_) @body)) .) @function
(_ (variable_declarator name: (identifier) @name value: (_ body: (_) @body)) @function . (variable_declarator))
(_ (variable_declarator) . (variable_declarator name: (identifier) @name value: (_ body: (_) @body)) @function)

; Default exports without a name are called "default".
(export_statement "default" @name value: (class body: (_) @body)) @class
(export_statement "default" @name value: (_ body: (_) @body)) @function

; exports.f = function …, module.exports = class C …, C.prototype.m = function …, f.helper = () => …
((assignment_expression left: (_) @_left right: (class name: (_) @name @exported body: (_) @body)) @class
  (#eq? @_left "module.exports"))
((assignment_expression left: (_) @_left right: (_ name: (_) @name @exported body: (_) @body)) @function
  (#eq? @_left "module.exports"))
((assignment_expression left: (member_expression object: (_) @_object property: (_) @name @exported)
  right: (class body: (_) @body)) @class
  (#any-of? @_object "exports" "module.exports"))
((assignment_expression left: (member_expression object: (_) @_object property: (_) @name @exported)
  right: (_ body: (_) @body)) @function
  (#any-of? @_object "exports" "module.exports"))
((assignment_expression
  left: (member_expression
    object: (member_expression object: (_) @parent property: (_) @_prototype) property: (_) @name)
  right: (_ body: (_) @body)) @method
  (#eq? @_prototype "prototype"))
(program (expression_statement (assignment_expression
  left: (member_expression object: (identifier) @parent property: (_) @name) right: (_ body: (_) @body)) @function))

; Constants. If one wraps a function, as in `const Button = memo((props) => …)`, its signature ends before the body.
([(program (_ . (variable_declarator name: (identifier) @name value: (call_expression arguments: (arguments
     [(_ body: (_) @body) (call_expression arguments: (arguments (_ body: (_) @body)))]))) .) @constant)
  (export_statement (_ . (variable_declarator name: (identifier) @name value: (call_expression arguments: (arguments
     [(_ body: (_) @body) (call_expression arguments: (arguments (_ body: (_) @body)))]))) .) @constant)])
(program (_ (variable_declarator name: (identifier) @name)) @constant)
(export_statement declaration: (_ (variable_declarator name: (identifier) @name)) @constant)
(export_statement declaration: (_ (variable_declarator name: (object_pattern
  [(shorthand_property_identifier_pattern) @name @constant @exported
   (pair_pattern value: (identifier) @name @constant @exported)]))))

(export_statement) @outer
(decorator) @decorator
(comment) @doc

(export_specifier name: (identifier) @exported)
(export_statement value: (identifier) @exported)
((assignment_expression left: (_) @_left right: [(identifier) @exported
  (object [(shorthand_property_identifier) @exported (pair value: (identifier) @exported)])])
  (#match? @_left "^(module\\.)?exports(\\.\\w+)?$"))

(import_statement source: (_) @target) @import
(export_statement source: (_) @target) @import
((_ (variable_declarator value: [
  (call_expression function: (_) @_call arguments: (arguments . (string) @target))
  (await_expression (call_expression function: (_) @_call arguments: (arguments . (string) @target)))
  (member_expression object: (call_expression function: (_) @_call arguments: (arguments . (string) @target)))
  (call_expression function: (call_expression function: (_) @_call arguments: (arguments . (string) @target)))])) @import
  (#any-of? @_call "require" "import"))
((expression_statement (call_expression function: (_) @_call arguments: (arguments . (string) @target))) @import
  (#any-of? @_call "require" "import"))
((call_expression function: [(identifier) (import)] @_call arguments: (arguments . (string) @target)) @reference
  (#any-of? @_call "require" "import"))
