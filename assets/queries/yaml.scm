; Only the keys of each document itself: a value that is long or has parts of its own is left out of the signature.
(document (block_node (block_mapping (block_mapping_pair key: (_) @name value: (block_node) @body) @key)))
(document
  (block_node (block_mapping (block_mapping_pair
    key: (_) @name value: (flow_node [(flow_mapping) (flow_sequence)]) @body) @key)))
(document
  (block_node (block_mapping (block_mapping_pair key: (_) @name value: (flow_node) @body) @key))
  (#match? @body "^.{100}"))
(document (block_node (block_mapping (block_mapping_pair key: (_) @name) @key)))
(document (flow_node (flow_mapping (flow_pair key: (_) @name value: (_)? @body) @key)))
(ERROR . (block_mapping_pair key: (_) @name value: (block_node)? @body) @key)

(comment) @doc
