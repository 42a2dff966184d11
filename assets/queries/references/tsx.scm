; What TSX has in addition to TypeScript. A component is called by the tag that shows it; tags in small letters are
; those of HTML.
(jsx_opening_element name: (identifier) @ref.call)
(jsx_opening_element name: (member_expression property: (_) @ref.call))
(jsx_self_closing_element name: (identifier) @ref.call)
(jsx_self_closing_element name: (member_expression property: (_) @ref.call))
(jsx_attribute . (property_identifier) @ref.argument)
([(jsx_opening_element name: (identifier) @ref.argument)
  (jsx_self_closing_element name: (identifier) @ref.argument)
  (jsx_closing_element name: (identifier) @ref.argument)]
  (#match? @ref.argument "^[a-z]"))
