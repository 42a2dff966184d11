(namespace_definition name: (_) @name body: (_)? @body) @namespace
(class_declaration name: (_) @name body: (_)? @body) @class
(interface_declaration name: (_) @name body: (_)? @body) @interface
(trait_declaration name: (_) @name body: (_)? @body) @trait
(enum_declaration name: (_) @name body: (_)? @body) @enum
(method_declaration name: (_) @name body: (_)? @body) @method
(function_definition name: (_) @name body: (_)? @body) @function

; Everything declared with `const` is a constant, in capitals or not.
(const_declaration "const" . type: (_)? . (const_element . (name) @name @exported) . ";") @constant
(const_declaration (const_element . (name) @name @exported) @constant ",")
(const_declaration "," (const_element . (name) @name @exported) @constant)
(expression_statement
  (function_call_expression
    function: (name) @_define
    arguments: (arguments . (argument (string (string_content) @name))))
  (#eq? @_define "define")) @constant

(attribute_group) @decorator
(comment) @doc

(namespace_use_declaration (namespace_use_clause . [(name) (qualified_name)] @target)) @import
(namespace_use_declaration (namespace_name) @target body: (_)) @import
(include_expression [(string) @target (_ right: (string) @target)]) @import
(include_once_expression [(string) @target (_ right: (string) @target)]) @import
(require_expression [(string) @target (_ right: (string) @target)]) @import
(require_once_expression [(string) @target (_ right: (string) @target)]) @import
