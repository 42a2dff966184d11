; Only top-level keys. Values that are long or nested are not part of the signature.
(document (object (pair key: (_) @name value: [(object) (array)] @body) @key))
(document (object (pair key: (_) @name value: (string) @body) @key) (#match? @body "^.{100}"))
(document (object (pair key: (_) @name) @key))

(comment) @doc
