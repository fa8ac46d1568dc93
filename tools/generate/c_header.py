"""Writes argand/c/argand_ops.h: a function of C for each operator, which packs its arguments and calls the table of argand/ops/boxed.h
through the C interface.  They are inline, so the library exports no name for an operator, and an operator that gains a parameter with a
default still serves programs that were compiled before."""
import re
from collections import Counter

import boxed

NOTE = """/* Generated from the op definitions in argand/ops by tools/generate.  Do not edit.
 *
 * A function of C for each operator whose name does not begin with an underscore, and for its forms NAME_ (in place) and NAME_out.
 * argand_op_NAME is the overload without a name, argand_op_NAME__OVERLOAD one with a name; argand_op_NAME__2 is the second without.
 * argand_op_torchvision_nms is torchvision::nms.
 *
 * Parameters are those of the schema, in its order, without defaults:
 *   Tensor, Tensor?       argand_tensor*; NULL: none
 *   Tensor|Scalar, Scalar argand_value: argand_value_int(2), argand_value_tensor(t); argand_value_none(): the default
 *   int?, float?, bool?   a pointer; NULL: none
 *   lists                 a pointer and num_NAME; NULL with a number above 0: none
 *   ScalarType?           ARGAND_DTYPE_NONE: none;     MemoryFormat?  ARGAND_MEMORY_FORMAT_NONE: none
 *   TensorOptions         const argand_options*; NULL: the defaults
 * Results come last.  A pointer to a result may be NULL: the result is dropped.  A list of tensors is an argand_value, which
 * argand_values_free() frees.  Forms that write into their arguments have no results. */
#pragma once
#include "argand/c/argand_c.h"

#ifdef __cplusplus
extern "C" {
#endif

"""
HELPERS = """static inline void argand_take_tensor_(argand_value* from, argand_tensor** to) {
  if (to)
    *to = from->as.tensor;
  else
    argand_values_free(from, 1);
}
static inline void argand_take_value_(argand_value* from, argand_value* to) {
  if (to)
    *to = *from;
  else
    argand_values_free(from, 1);
}
static inline argand_error* argand_run_tensor_(const argand_function** f, const char* name, const argand_value* a, size_t n,
                                               argand_tensor** result) {
  argand_value r;
  argand_error* const error = argand_function_call_cached(f, name, a, n, &r, 1);
  if (!error) argand_take_tensor_(&r, result);
  return error;
}
static inline argand_value argand_value_optional_dtype_(argand_dtype x) {
  return x == ARGAND_DTYPE_NONE ? argand_value_none() : argand_value_dtype(x);
}
static inline argand_value argand_value_optional_format_(argand_memory_format x) {
  return x == ARGAND_MEMORY_FORMAT_NONE ? argand_value_none() : argand_value_memory_format(x);
}

"""
END = """
#ifdef __cplusplus
}
#endif
"""
# Schema type -> the C type, and the function that makes a value of it ("": it is one).
TYPES = {
    "Tensor": ("argand_tensor* ", "argand_value_tensor"), "Tensor?": ("argand_tensor* ", "argand_value_tensor"),
    "Tensor|Scalar": ("argand_value ", ""), "Scalar": ("argand_value ", ""), "Scalar?": ("argand_value ", ""),
    "int": ("int64_t ", "argand_value_int"), "int?": ("const int64_t* ", "argand_value_optional_int"),
    "float": ("double ", "argand_value_double"), "float?": ("const double* ", "argand_value_optional_double"),
    "bool": ("bool ", "argand_value_bool"), "bool?": ("const bool* ", "argand_value_optional_bool"),
    "str": ("const char* ", "argand_value_string"), "str?": ("const char* ", "argand_value_string"),
    "ScalarType": ("argand_dtype ", "argand_value_dtype"), "ScalarType?": ("argand_dtype ", "argand_value_optional_dtype_"),
    "MemoryFormat": ("argand_memory_format ", "argand_value_memory_format"),
    "MemoryFormat?": ("argand_memory_format ", "argand_value_optional_format_"),
    "Device": ("argand_device ", "argand_value_device"), "Generator?": ("argand_generator* ", "argand_value_generator"),
    "TensorOptions": ("const argand_options* ", "argand_value_options"),
}
LISTS = {"Tensor": ("argand_tensor* const* ", "argand_value_tensors"), "int": ("const int64_t* ", "argand_value_ints"),
         "float": ("const double* ", "argand_value_doubles"), "bool": ("const bool* ", "argand_value_bools"),
         "Scalar": ("const argand_value* ", "argand_value_numbers")}
RESULTS = {"Tensor": "argand_tensor** ", "bool": "bool* ", "int": "int64_t* ", "float": "double* "}
MEMBERS = {"bool": "boolean", "int": "integer", "float": "number"}
KEYWORDS = set("auto break case char const continue default do double else enum extern float for goto if inline int long register "
               "restrict return short signed sizeof static struct switch typedef union unsigned void volatile while bool class "
               "delete explicit export friend new operator private protected public template this throw try typename using "
               "virtual and or not xor namespace mutable a f r e".split())


def safe(name):
    return name + "_" if name in KEYWORDS else name


def list_type(type_):
    m = re.fullmatch(r"(\w+)\??\[\d*\]\??", type_)
    return LISTS[m.group(1)] if m else None


def parameter(arg):
    """(declaration, expression of the value)."""
    name, listed = safe(arg.name), list_type(arg.type)
    if listed:
        return f"{listed[0]}{name}, int64_t num_{arg.name}", f"{listed[1]}({name}, num_{arg.name})"
    c_type, make = TYPES[arg.type]
    return c_type + name, f"{make}({name})" if make else name


def results(schema):
    """(name, schema type) of each."""
    taken = {a.name for a in schema.args}
    for i, (name, type_) in enumerate(zip(schema.return_names, schema.returns)):
        name = name or ("result" if len(schema.returns) == 1 else f"result{i}")
        yield ("result_" + name if name in taken else safe(name)), type_


def full_names(ops):
    """Each form of each schema, as (op, schema, form, name for argand_function_find, name in C)."""
    seen = Counter()
    for op in ops:
        for schema in op.schemas:
            for form in boxed.forms(op, schema):
                name = form[0] + (f".{schema.overload}" if schema.overload else "")
                seen[name] += 1
                number = seen[name]
                c_name = form[0].replace("::", "_") + (f"__{schema.overload}" if schema.overload else "") + (f"__{number}" if number > 1 else "")
                yield op, schema, form, name + (f"#{number}" if number > 1 else ""), c_name


def function(schema, form, name, c_name):
    _, writes_first, outs = form
    pairs = [parameter(a) for a in schema.args]
    if writes_first and schema.args[0].type == "Tensor|Scalar":
        pairs[0] = "argand_tensor* self", "argand_value_tensor(self)"
    pairs += [(f"argand_tensor* {out}", f"argand_value_tensor({out})") for out in outs]
    given = [] if writes_first or outs else list(results(schema))
    declared = [d for d, _ in pairs] + [(RESULTS.get(t, "argand_value* ")) + n for n, t in given]
    body = ["  static const argand_function* f;"]
    values = "NULL"
    if pairs:
        body.append("  const argand_value a[] = {" + ", ".join(v for _, v in pairs) + "};")
        values = "a"
    call = f'(&f, "{name}", {values}, {len(pairs)}, '
    if len(given) == 1 and given[0][1] == "Tensor":
        body.append(f"  return argand_run_tensor_{call}{given[0][0]});")
    elif not given:
        body.append(f"  return argand_function_call_cached{call}NULL, 0);")
    else:
        body += [f"  argand_value r[{len(given)}];", f"  argand_error* const e = argand_function_call_cached{call}r, {len(given)});", "  if (e) return e;"]
        for i, (n, t) in enumerate(given):
            if t in MEMBERS:
                body.append(f"  if ({n}) *{n} = r[{i}].as.{MEMBERS[t]};")
            else:
                body.append(f"  argand_take_{'tensor' if t == 'Tensor' else 'value'}_(&r[{i}], {n});")
        body.append("  return NULL;")
    return (f"/* {schema.text} */\nstatic inline argand_error* argand_op_{c_name}({', '.join(declared) or 'void'}) {{\n"
            + "\n".join(body) + "\n}\n")


def header(ops):
    functions = [function(schema, form, name, c_name) for _, schema, form, name, c_name in full_names(ops) if not name.startswith("_")]
    return NOTE + HELPERS + "\n".join(functions) + END
