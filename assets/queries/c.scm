(function_definition
  declarator: [
    (function_declarator declarator: (identifier) @name)
    (pointer_declarator declarator: (function_declarator declarator: (identifier) @name))
    (pointer_declarator declarator: (pointer_declarator declarator: (function_declarator declarator: (identifier) @name)))
    (function_declarator declarator: (parenthesized_declarator (pointer_declarator
      declarator: (function_declarator declarator: (identifier) @name))))
  ]
  body: (_)? @body
  (#not-match? @name "^(if|for|while|switch|return|sizeof)$")) @function
(declaration
  declarator: [
    (function_declarator declarator: (identifier) @name)
    (pointer_declarator declarator: (function_declarator declarator: (identifier) @name))
    (pointer_declarator declarator: (pointer_declarator declarator: (function_declarator declarator: (identifier) @name)))
    (function_declarator declarator: (parenthesized_declarator (pointer_declarator
      declarator: (function_declarator declarator: (identifier) @name))))
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
    (pointer_declarator declarator: (function_declarator
      declarator: (parenthesized_declarator (pointer_declarator declarator: (type_identifier) @name))))
  ]) @type
(struct_specifier name: (_) @name body: (_) @body) @struct
(union_specifier name: (_) @name body: (_) @body) @union
(enum_specifier name: (_) @name body: (_) @body) @enum

; @outer keeps constants whose name is not in capitals too. One-line values are part of the signature.
(declaration (type_qualifier "const")
  declarator: (init_declarator
    declarator: [(identifier) @name (array_declarator declarator: (identifier) @name)]
    value: (initializer_list) @body)) @constant @outer
(declaration (type_qualifier "const") declarator: (init_declarator declarator: (identifier) @name)) @constant @outer
(preproc_function_def name: (_) @name value: (_)? @body) @macro
(preproc_def name: (_) @name value: (_) @body (#match? @body "\n")) @macro
(preproc_def name: (_) @name value: (_)) @macro

(attribute_declaration) @decorator
(comment) @doc

(preproc_include path: (_) @target) @import
