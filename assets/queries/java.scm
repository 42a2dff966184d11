(class_declaration name: (_) @name body: (_)? @body) @class
(interface_declaration name: (_) @name body: (_)? @body) @interface
(annotation_type_declaration name: (_) @name body: (_)? @body) @interface
(enum_declaration name: (_) @name body: (_)? @body) @enum
(record_declaration name: (_) @name body: (_)? @body) @record
(method_declaration name: (_) @name body: (_)? @body) @method
(constructor_declaration name: (_) @name body: (_)? @body) @method
(compact_constructor_declaration name: (_) @name body: (_)? @body) @method
(annotation_type_element_declaration name: (_) @name) @method

(field_declaration declarator: (_ name: (_) @name)) @constant
(constant_declaration declarator: (_ name: (_) @name)) @constant

(annotation) @decorator
(marker_annotation) @decorator
(block_comment) @doc
(line_comment) @doc

(import_declaration (_) @target (asterisk)? @target) @import
