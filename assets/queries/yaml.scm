; Only the top-level keys of each document. Values that are long or nested are not part of the signature.
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
