(function_definition name: (identifier) @name body: (_)? @body) @function
(class_definition name: (identifier) @name body: (_)? @body) @class

(module (assignment left: (identifier) @name) @constant)

(decorated_definition) @outer
(decorator) @decorator
(block . (string) @docstring)
; Only comments in places that can be part of a signature.
(function_definition (comment) @comment)
(class_definition (comment) @comment)
(parameters (comment) @comment)
(argument_list (comment) @comment)

(import_statement name: (dotted_name) @target) @import
(import_statement name: (aliased_import name: (dotted_name) @target)) @import
(import_from_statement module_name: (_) @target) @import
