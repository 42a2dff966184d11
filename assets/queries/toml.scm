(table . [(bare_key) (quoted_key) (dotted_key)] @name . (comment)* . (pair)? @body) @key
(table_array_element . [(bare_key) (quoted_key) (dotted_key)] @name . (comment)* . (pair)? @body) @key

; Values that are long or nested are not part of the signature.
(document (pair . (_) @name . [(array) (inline_table)] @body) @key)
(table (pair . (_) @name . [(array) (inline_table)] @body) @key)
(table_array_element (pair . (_) @name . [(array) (inline_table)] @body) @key)
(document (pair . (_) @name . (string) @body) @key (#match? @body "^(\"\"\"|'''|.{100})"))
(table (pair . (_) @name . (string) @body) @key (#match? @body "^(\"\"\"|'''|.{100})"))
(table_array_element (pair . (_) @name . (string) @body) @key (#match? @body "^(\"\"\"|'''|.{100})"))
(document (pair . (_) @name) @key)
(table (pair . (_) @name) @key)
(table_array_element (pair . (_) @name) @key)

(comment) @doc
