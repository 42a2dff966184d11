(namespace_declaration name: (_) @name @exported body: (_)? @body) @namespace
(file_scoped_namespace_declaration name: (_) @name @exported) @namespace

(class_declaration name: (_) @name body: (_)? @body) @class
(struct_declaration name: (_) @name body: (_)? @body) @struct
(interface_declaration name: (_) @name body: (_)? @body) @interface
(record_declaration name: (_) @name body: (_)? @body) @record
(enum_declaration name: (_) @name body: (_)? @body) @enum
(delegate_declaration name: (_) @name) @delegate

(method_declaration name: (_) @name body: (_)? @body) @function
(local_function_statement name: (_) @name body: (_)? @body) @function
(constructor_declaration name: (_) @name (constructor_initializer)? @body body: (_)? @body) @function
(destructor_declaration "~" @name name: (_) @name body: (_)? @body) @function
(operator_declaration "operator" @name operator: _ @name body: (_)? @body) @function
(conversion_operator_declaration "operator" @name type: (_) @name body: (_)? @body) @function

; Accessors without code are part of the signature: `int Count { get; private set; }`.
(property_declaration name: (_) @name
  accessors: (accessor_list . (accessor_declaration !body) . (accessor_declaration !body)? .)) @property
(property_declaration name: (_) @name [accessors: (_) value: (_)] @body) @property
(indexer_declaration "this" @name [accessors: (_) value: (_)] @body) @property
(event_declaration name: (_) @name accessors: (_) @body) @event
(event_field_declaration (variable_declaration (variable_declarator name: (_) @name))) @event
; @outer keeps constants whose name is not in capitals too.
(field_declaration (modifier "const") (variable_declaration (variable_declarator name: (_) @name))) @constant @outer

(attribute_list) @decorator
((comment) @doc (#match? @doc "^(///|/\\*\\*)"))
(comment) @comment

(using_directive [(identifier) (qualified_name) (alias_qualified_name)] @target .) @import
