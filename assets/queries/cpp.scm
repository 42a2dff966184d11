; Definitions outside their class, and others with qualified names.
(function_definition
  declarator: [
    (function_declarator declarator: (qualified_identifier) @qualified)
    (pointer_declarator (function_declarator declarator: (qualified_identifier) @qualified))
    (reference_declarator (function_declarator declarator: (qualified_identifier) @qualified))
    (pointer_declarator (pointer_declarator (function_declarator declarator: (qualified_identifier) @qualified)))
    (qualified_identifier) @qualified
  ]
  (field_initializer_list)? @body
  body: (_)? @body) @method

; A class with an unknown macro before its name is parsed as a function definition.
(function_definition type: (class_specifier !body) . (ERROR . (identifier) @name) body: (_) @body) @class
(function_definition type: (class_specifier !body) declarator: (identifier) @name body: (_) @body) @class
(function_definition type: (struct_specifier !body) . (ERROR . (identifier) @name) body: (_) @body) @struct
(function_definition type: (struct_specifier !body) declarator: (identifier) @name body: (_) @body) @struct

(function_definition
  declarator: [
    (function_declarator declarator: [(identifier) (field_identifier) (destructor_name) (operator_name)] @name)
    (function_declarator declarator: (template_function name: (_) @name))
    (pointer_declarator (function_declarator declarator: [(identifier) (field_identifier) (operator_name)] @name))
    (reference_declarator (function_declarator declarator: [(identifier) (field_identifier) (operator_name)] @name))
    (pointer_declarator (pointer_declarator (function_declarator declarator: [(identifier) (field_identifier) (operator_name)] @name)))
    (operator_cast "operator" @name type: (_) @name)
  ]
  (field_initializer_list)? @body
  body: (_)? @body
  (#not-match? @name "^(if|for|while|switch|return|sizeof)$")) @function
(field_declaration
  declarator: [
    (function_declarator declarator: [(field_identifier) (operator_name)] @name)
    (pointer_declarator (function_declarator declarator: [(field_identifier) (operator_name)] @name))
    (reference_declarator (function_declarator declarator: [(field_identifier) (operator_name)] @name))
    (pointer_declarator (pointer_declarator (function_declarator declarator: [(field_identifier) (operator_name)] @name)))
  ]) @function
(declaration
  declarator: [
    (function_declarator declarator: [(identifier) (destructor_name) (operator_name)] @name)
    (pointer_declarator (function_declarator declarator: [(identifier) (operator_name)] @name))
    (reference_declarator (function_declarator declarator: [(identifier) (operator_name)] @name))
    (pointer_declarator (pointer_declarator (function_declarator declarator: [(identifier) (operator_name)] @name)))
    (operator_cast "operator" @name type: (_) @name)
  ]
  (#not-match? @name "^(if|for|while|switch|return|sizeof)$")) @prototype

(type_definition type: (struct_specifier body: (_) @body) declarator: (type_identifier) @name) @struct
(type_definition type: (union_specifier body: (_) @body) declarator: (type_identifier) @name) @union
(type_definition type: (enum_specifier body: (_) @body) declarator: (type_identifier) @name) @enum
(type_definition
  declarator: [
    (type_identifier) @name
    (_ declarator: (type_identifier) @name)
    (function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: (type_identifier) @name)))
  ]) @type
(alias_declaration name: (_) @name) @type

(class_specifier
  name: [(type_identifier) @name (template_type name: (_) @name) (qualified_identifier) @qualified]
  body: (_) @body) @class
(struct_specifier
  name: [(type_identifier) @name (template_type name: (_) @name) (qualified_identifier) @qualified]
  body: (_) @body) @struct
(union_specifier name: (_) @name body: (_) @body) @union
(enum_specifier name: (_) @name body: (_) @body) @enum
(namespace_definition name: (_) @name body: (_)? @body) @namespace
(concept_definition name: (_) @name (requires_expression requirements: (_) @body)?) @concept

; @outer keeps constants whose name is not in capitals too. One-line values are part of the signature.
(declaration (type_qualifier ["const" "constexpr"])
  declarator: (init_declarator
    declarator: [(identifier) @name (array_declarator declarator: (identifier) @name)]
    value: (initializer_list) @body)) @constant @outer
(declaration (type_qualifier ["const" "constexpr"])
  declarator: (init_declarator declarator: (identifier) @name)) @constant @outer
(field_declaration (storage_class_specifier "static") (type_qualifier ["const" "constexpr"])
  declarator: (field_identifier) @name default_value: (_)) @constant @outer
(preproc_function_def name: (_) @name value: (_)? @body) @macro
(preproc_def name: (_) @name value: (_) @body (#match? @body "\n")) @macro
(preproc_def name: (_) @name value: (_)) @macro

(template_declaration) @outer
(friend_declaration) @outer
(linkage_specification body: [(function_definition) (declaration)]) @outer
(field_declaration_list (access_specifier) @access)
(compound_statement (labeled_statement label: (_) @access (#match? @access "^(public|protected|private)$")))
(attribute_declaration) @decorator
(comment) @doc

(preproc_include path: (_) @target) @import
