(class_definition name: (_) @name body: (_)? @body) @class
(object_definition name: (_) @name body: (_)? @body) @object
(package_object name: (_) @name body: (_)? @body) @object
(trait_definition name: (_) @name body: (_)? @body) @trait
(enum_definition name: (_) @name body: (_)? @body) @enum
(function_definition name: (_) @name body: (_)? @body) @function
(function_declaration name: (_) @name) @function
(type_definition name: (_) @name) @type

; Givens without a name, and all extensions, are named after their type.
(given_definition name: (_) @name body: (_)? @body) @given
(given_definition return_type: (_) @name body: (_)? @body) @given
(extension_definition parameters: (parameters (parameter type: (_) @name)) body: (_)? @body) @extension

; Scala constants start with a capital letter.
((template_body (val_definition pattern: (identifier) @name) @constant @outer) (#match? @name "^[A-Z]"))
((compilation_unit (val_definition pattern: (identifier) @name) @constant @outer) (#match? @name "^[A-Z]"))

(annotation) @decorator
(comment) @doc
(block_comment) @doc

(import_declaration ["import" ","] . path: (_) @target ("." . [(identifier) (namespace_wildcard)] @target)*) @import
