(class_declaration declaration_kind: "struct" name: (_) @name body: (_)? @body) @struct
(class_declaration declaration_kind: "enum" name: (_) @name body: (_)? @body) @enum
(class_declaration declaration_kind: "extension" name: (_) @name body: (_)? @body) @extension
(class_declaration name: (_) @name body: (_)? @body) @class
(protocol_declaration name: (_) @name body: (_)? @body) @protocol
(function_declaration "func" . _ @name body: (_)? @body) @function
(protocol_function_declaration "func" . _ @name) @method
(init_declaration "init" @name body: (_)? @body) @method
(deinit_declaration "deinit" @name body: (_)? @body) @method
(subscript_declaration "subscript" @name (computed_property)? @body) @method
(typealias_declaration "typealias" . (_) @name) @type
(associatedtype_declaration "associatedtype" . (_) @name) @type
(macro_declaration (simple_identifier) @name definition: (_)? @body) @macro

; Properties with accessors, then constants: public ones, and those named in capitals.
(property_declaration name: (pattern (simple_identifier) @name) computed_value: (_) @body) @property
(protocol_property_declaration name: (pattern (simple_identifier) @name)) @property
(source_file (property_declaration (modifiers (visibility_modifier ["public" "open"])) (value_binding_pattern "let")
  name: (pattern (simple_identifier) @name)) @constant @outer)
(source_file (property_declaration (value_binding_pattern "let") name: (pattern (simple_identifier) @name)) @constant)
(class_body (property_declaration (value_binding_pattern "let") name: (pattern (simple_identifier) @name)) @constant)

(attribute) @decorator
(comment) @doc
(multiline_comment) @doc

(import_declaration (identifier) @target) @import
