(function_declaration name: (_) @name body: (_)? @body) @function
(generator_function_declaration name: (_) @name body: (_)? @body) @function
(function_signature name: (_) @name) @function
(class_declaration name: (_) @name body: (_)? @body) @class
(abstract_class_declaration name: (_) @name body: (_)? @body) @class
(interface_declaration name: (_) @name body: (_)? @body) @interface
(enum_declaration name: (_) @name body: (_)? @body) @enum
(type_alias_declaration name: (_) @name) @type
(internal_module name: (_) @name body: (_)? @body) @namespace
(module name: (_) @name body: (_)? @body) @namespace

(class_body (method_definition name: (_) @name body: (_)? @body) @method)
((ERROR (method_definition name: (_) @name body: (_)? @body) @method)
  (#not-match? @name "^(if|for|while|switch|catch|function)$"))
(class_body (method_signature name: (_) @name) @method)
(class_body (abstract_method_signature name: (_) @name) @method)
(interface_body (method_signature name: (_) @name) @method)
(public_field_definition name: (_) @name value: (_ body: (_) @body)) @method

; A variable whose value is a class or function: the whole statement if it declares nothing else.
(_ . (variable_declarator name: (identifier) @name value: (class body: (_) @body)) .) @class
(_ . (variable_declarator name: (identifier) @name value: (_ body: (_) @body)) .) @function
(_ (variable_declarator name: (identifier) @name value: (_ body: (_) @body)) @function . (variable_declarator))
(_ (variable_declarator) . (variable_declarator name: (identifier) @name value: (_ body: (_) @body)) @function)

; Default exports without a name are called "default".
(export_statement "default" @name value: (class body: (_) @body)) @class
(export_statement "default" @name value: (_ body: (_) @body)) @function

; Constants. If one wraps a function, as in `const Button = memo((props) => …)`, its signature ends before the body.
([(program (_ . (variable_declarator name: (identifier) @name value: (call_expression arguments: (arguments
     [(_ body: (_) @body) (call_expression arguments: (arguments (_ body: (_) @body)))]))) .) @constant)
  (export_statement (_ . (variable_declarator name: (identifier) @name value: (call_expression arguments: (arguments
     [(_ body: (_) @body) (call_expression arguments: (arguments (_ body: (_) @body)))]))) .) @constant)])
(program (_ (variable_declarator name: (identifier) @name)) @constant)
(export_statement declaration: (_ (variable_declarator name: (identifier) @name)) @constant)
(ambient_declaration (_ (variable_declarator name: (identifier) @name)) @constant)
(export_statement declaration: (_ (variable_declarator name: (object_pattern
  [(shorthand_property_identifier_pattern) @name @constant @exported
   (pair_pattern value: (identifier) @name @constant @exported)]))))

(export_statement) @outer
(ambient_declaration) @outer
(decorator) @decorator
(comment) @doc

(export_specifier name: (identifier) @exported)
(export_statement (identifier) @exported)
(ambient_declaration (_ body: (statement_block (_ name: (_) @exported))))

(import_statement source: (_) @target) @import
(import_statement (import_require_clause source: (_) @target)) @import
(export_statement source: (_) @target) @import
((_ (variable_declarator value: [
  (call_expression function: (_) @_call arguments: (arguments . (string) @target))
  (await_expression (call_expression function: (_) @_call arguments: (arguments . (string) @target)))
  (member_expression object: (call_expression function: (_) @_call arguments: (arguments . (string) @target)))])) @import
  (#any-of? @_call "require" "import"))
((expression_statement (call_expression function: (_) @_call arguments: (arguments . (string) @target))) @import
  (#any-of? @_call "require" "import"))
((call_expression function: [(identifier) (import)] @_call arguments: (arguments . (string) @target)) @reference
  (#any-of? @_call "require" "import"))
