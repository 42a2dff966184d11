(function_item name: (_) @name body: (_)? @body) @function
(function_signature_item name: (_) @name) @function

(struct_item name: (_) @name body: (field_declaration_list)? @body) @struct
(enum_item name: (_) @name body: (_)? @body) @enum
(union_item name: (_) @name body: (_)? @body) @union
(trait_item name: (_) @name body: (_)? @body) @trait
(impl_item
  type: [(_ name: (_) @name) (generic_type type: [(type_identifier) @name (_ name: (_) @name)])]
  body: (_)? @body) @impl
(impl_item type: (_) @name body: (_)? @body) @impl
(mod_item name: (_) @name body: (_) @body) @module

(type_item name: (_) @name) @type
(associated_type name: (_) @name) @type
; Values of several lines are not part of the signature.
([(const_item name: (_) @name value: (_) @body) (static_item name: (_) @name value: (_) @body)] @constant
  (#match? @body "\n"))
([(const_item name: (_) @name) (static_item name: (_) @name)] @constant)
(macro_definition name: (_) @name ["(" "[" "{"] @body) @macro

(attribute_item) @decorator
(line_comment outer: (_)) @doc
(block_comment outer: (_)) @doc
(line_comment) @comment
(block_comment) @comment

(use_declaration argument: (scoped_use_list path: (_) @target)) @import
(use_declaration argument: (use_as_clause path: (_) @target)) @import
(use_declaration argument: (use_wildcard (_) @target)) @import
(use_declaration argument: [(identifier) (scoped_identifier) (use_list)] @target) @import
(extern_crate_declaration name: (_) @target) @import
(mod_item name: (_) @target !body) @import
; Macros such as `cfg_unix! { mod unix; }` contain whole statements, which may be imports.
(source_file (macro_invocation (token_tree "{") @target) @reference (#match? @target "\\b(mod|use)\\s"))
(declaration_list (macro_invocation (token_tree "{") @target) @reference (#match? @target "\\b(mod|use)\\s"))
