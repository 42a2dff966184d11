(function_declaration name: (_) @name body: (_)? @body) @function
(method_declaration
  receiver: (parameter_list (parameter_declaration type: [
    (type_identifier) @parent
    (generic_type type: (_) @parent)
    (pointer_type [(type_identifier) @parent (generic_type type: (_) @parent)])
  ]))
  name: (_) @name body: (_)? @body) @method
(method_declaration name: (_) @name body: (_)? @body) @method
(method_elem name: (_) @name) @function

(type_declaration "type" @keyword
  (type_spec name: (_) @name type: (struct_type (field_declaration_list) @body)) @struct)
(type_declaration "type" @keyword (type_spec name: (_) @name type: (interface_type "{" @body)) @interface)
(type_declaration "type" @keyword [(type_spec name: (_) @name) (type_alias name: (_) @name)] @type)

(type_spec type: (struct_type (field_declaration_list (field_declaration !name type: (_) @base)))) @heir
(type_spec type: (interface_type (type_elem) @base)) @heir

; @outer keeps constants whose name is not in capitals too.
(source_file (const_declaration "const" @keyword (const_spec name: (identifier) @name) @constant @outer))
(source_file (var_declaration "var" @keyword [
  (var_spec name: (identifier) @name value: (expression_list . (_ body: (_) @body) .)) @variable
  (var_spec_list (var_spec name: (identifier) @name value: (expression_list . (_ body: (_) @body) .)) @variable)
]) (#not-eq? @name "_"))
(source_file (var_declaration "var" @keyword [
  (var_spec name: (identifier) @name) @variable
  (var_spec_list (var_spec name: (identifier) @name) @variable)
]) (#not-eq? @name "_"))

(comment) @doc

(import_spec path: (_) @target) @import
