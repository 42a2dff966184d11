(class_declaration "interface" (type_identifier) @name (class_body)? @body) @interface
(class_declaration "enum" (type_identifier) @name (enum_class_body)? @body) @enum
(class_declaration (type_identifier) @name [(class_body) (enum_class_body)]? @body) @class
(object_declaration (type_identifier) @name (class_body)? @body) @object
(companion_object (type_identifier) @name (class_body)? @body) @object
(companion_object "companion" @name (class_body)? @body) @object
(function_declaration receiver: (_)? @parent (simple_identifier) @name (function_body)? @body) @function
(secondary_constructor "constructor" @name "{"? @body) @method
(type_alias (type_identifier) @name) @type

; Properties with accessors, then constants: declared with `const`, or named in capitals.
(property_declaration receiver: (_)? @parent (variable_declaration (simple_identifier) @name) (getter) @body) @property
((property_declaration receiver: (_)? @parent (variable_declaration (simple_identifier) @name)) @property . (getter))
((property_declaration (modifiers (property_modifier) @_word)
  (variable_declaration (simple_identifier) @name)) @constant @outer (#eq? @_word "const"))
(source_file (property_declaration (variable_declaration (simple_identifier) @name)) @constant)
(class_body (property_declaration (variable_declaration (simple_identifier) @name)) @constant)

(annotation) @decorator
(line_comment) @doc
(multiline_comment) @doc

(import_header (identifier) @target (wildcard_import)? @target) @import
