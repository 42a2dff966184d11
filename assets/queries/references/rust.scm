(call_expression function: (identifier) @ref.call)
(call_expression function: (scoped_identifier name: (identifier) @ref.call))
(call_expression function: (field_expression field: (field_identifier) @ref.call))
(generic_function function: (identifier) @ref.call)
(generic_function function: (scoped_identifier name: (identifier) @ref.call))
(generic_function function: (field_expression field: (field_identifier) @ref.call))
(macro_invocation macro: (identifier) @ref.call)
(macro_invocation macro: (scoped_identifier name: (identifier) @ref.call))
; The arguments of macros are not parsed: only brackets and dots show what a name does.
(token_tree (identifier) @ref.call . (token_tree . "("))
(token_tree (identifier) @ref.call . "!" . (token_tree))
(token_tree "." . (identifier) @ref.attribute)
; In paths, only types have names in capitals: `Circle::new()`.
([
  (scoped_identifier path: (identifier) @ref.type)
  (scoped_identifier path: (scoped_identifier name: (identifier) @ref.type))
  (token_tree (identifier) @ref.type . "::")
] (#match? @ref.type "^[A-Z]"))
(token_tree "let" . (identifier) @ref.local)

(use_declaration argument: (identifier) @ref.import)
(use_declaration argument: (scoped_identifier name: (identifier) @ref.import))
(use_declaration argument: (scoped_identifier path: (identifier) @ref.import))
(use_declaration argument: (scoped_identifier path: (scoped_identifier name: (identifier) @ref.import)))
(use_list (identifier) @ref.import)
(use_list (scoped_identifier name: (identifier) @ref.import))
(use_list (scoped_identifier path: (identifier) @ref.import))
(scoped_use_list path: (identifier) @ref.import)
(scoped_use_list path: (scoped_identifier name: (identifier) @ref.import))
(use_wildcard "*" @ref.import)
(use_wildcard (identifier) @ref.import)
(use_wildcard (scoped_identifier name: (identifier) @ref.import))
(use_as_clause path: (identifier) @ref.import)
(use_as_clause path: (scoped_identifier name: (identifier) @ref.import))
(use_as_clause alias: (identifier) @ref.alias)
(extern_crate_declaration name: (identifier) @ref.import)
(extern_crate_declaration alias: (identifier) @ref.alias)
(mod_item name: (identifier) @ref.import !body)

(impl_item trait: (type_identifier) @ref.base)
(impl_item trait: (scoped_type_identifier name: (type_identifier) @ref.base))
(impl_item trait: (generic_type type: (type_identifier) @ref.base))
(impl_item trait: (generic_type type: (scoped_type_identifier name: (type_identifier) @ref.base)))
(trait_item bounds: (trait_bounds (type_identifier) @ref.base))
(trait_item bounds: (trait_bounds (scoped_type_identifier name: (type_identifier) @ref.base)))
(trait_item bounds: (trait_bounds (generic_type type: (type_identifier) @ref.base)))

(attribute (identifier) @ref.decorator)
(attribute (scoped_identifier name: (identifier) @ref.decorator))
; What `#[cfg(test)]` and `#[allow(unused)]` list are words of their own; what `#[derive(Debug)]` lists are names.
(attribute (identifier) @_attribute arguments: (token_tree (identifier) @ref.argument)
  (#not-eq? @_attribute "derive"))
(attribute (identifier) @_attribute arguments: (token_tree (identifier) @ref.decorator)
  (#eq? @_attribute "derive"))

(type_parameter name: (type_identifier) @ref.type_parameter)
(const_parameter name: (identifier) @ref.local)
(parameter pattern: (identifier) @ref.local)
(closure_parameters (identifier) @ref.local)
(let_declaration pattern: (identifier) @ref.local)
(for_expression pattern: (identifier) @ref.local)
(captured_pattern . (identifier) @ref.local)
(mut_pattern (identifier) @ref.local)
(ref_pattern (identifier) @ref.local)
(reference_pattern (identifier) @ref.local)
(shorthand_field_identifier) @ref.local
; In other patterns, names in capitals are constants and variants such as `None`.
([
  (tuple_pattern (identifier) @ref.local)
  (tuple_struct_pattern type: (_) (identifier) @ref.local)
  (slice_pattern (identifier) @ref.local)
  (or_pattern (identifier) @ref.local)
  (match_pattern . (identifier) @ref.local)
  (field_pattern pattern: (identifier) @ref.local)
] (#match? @ref.local "^[a-z_]"))
(field_declaration name: (field_identifier) @ref.local)

(enum_variant name: (identifier) @ref.argument)
(field_initializer field: (field_identifier) @ref.argument)
(field_pattern name: (field_identifier) @ref.argument)
(type_binding name: (type_identifier) @ref.argument)
(lifetime (identifier) @ref.argument)
(label (identifier) @ref.argument)

(assignment_expression left: (identifier) @ref.assignment)
(assignment_expression left: (field_expression field: (field_identifier) @ref.assignment))
(compound_assignment_expr left: (identifier) @ref.assignment)
(compound_assignment_expr left: (field_expression field: (field_identifier) @ref.assignment))

; The starts of paths; `self` before a dot is not one.
(scoped_identifier path: [(crate) (self) (super)] @ref)
(scoped_type_identifier path: [(crate) (self) (super)] @ref)
(scoped_identifier path: (scoped_identifier name: (super) @ref))
(token_tree [(crate) (self) (super)] @ref . "::")

(string_literal . (string_content) @ref.string .)
(field_identifier) @ref.attribute
(type_identifier) @ref.type
(identifier) @ref
