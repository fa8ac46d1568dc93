"""Writes the table of argand/ops/boxed.h: every op in each of its forms, to be called by name with values whose types are known
at run time.  An op has one C++ function here, which fills its argument struct; what differs between forms and overloads is data."""
import re

import cpp_types
import emit

KINDS = {
    "Tensor": "kTensor", "Tensor|Scalar": "kTensorOrNumber", "Tensor[]": "kTensorList", "Tensor?[]": "kTensorList", "int": "kInt", "float": "kFloat",
    "float[]": "kFloatList", "bool": "kBool", "str": "kText", "Scalar": "kScalar", "Scalar[]": "kScalarList", "ScalarType": "kDtype",
    "Device": "kDevice", "MemoryFormat": "kMemoryFormat", "Generator": "kGenerator", "TensorOptions": "kOptions",
}


def parameter(arg, field):
    base = arg.type.removesuffix("?")
    kind, length = KINDS.get(base), 0
    if kind is None:
        name, length = re.fullmatch(r"(int|bool)\[(\d*)\]", base).groups()
        kind, length = {"int": "kIntList", "bool": "kBoolList"}[name], int(length or 0)
    flags = [str(flag).lower() for flag in (base != arg.type, arg.keyword_only, arg.default is not None)]
    return f'{{"{arg.name}", "{arg.type}", Kind::{kind}, {", ".join(flags)}, {length}, {field}}}'


def forms(op, schema):
    """(name, whether it writes its first argument, the names of the tensors that it writes into) of the forms of a schema."""
    self_arg = schema.arg("self")
    takes_self = self_arg is not None and schema.args[0] is self_arg and self_arg.is_tensor and not schema.in_namespace
    if schema.in_place_only:
        return [(schema.full_name, bool(schema.returns), [])]
    out = [(schema.full_name, False, [])]
    if "inplace" in op.forms and takes_self and schema.returns == ["Tensor"]:
        out.append((schema.full_name + "_", True, []))
    if emit.has_out(op, schema):
        n = len(schema.returns)
        out.append((schema.full_name + "_out", False, ["out"] if n == 1 else [f"out{i}" for i in range(n)]))
    return out


def call_of(op):
    """The function that fills the argument struct of an op and runs it."""
    lines = [f"void call_{op.name}(Call& c) {{", f"  ops::{op.name}Args args;"]
    lines += [f"  c.fill({i}, args.{a.name});" for i, a in enumerate(op.schema.args)]
    if op.out_chooses == "of floating point":  # see emit.out_function
        lines.append("  if (args.dtype || !args.self.defined() || !is_integral(args.self.dtype(), true)) c.choose_dtype(args.dtype);")
    elif op.out_chooses:
        lines.append("  c.choose_dtype(args.dtype);")
    return "\n".join([*lines, f"  c.run(ops::{op.name}_info, &args);", "}"])


def family(name, ops, order):
    """The functions of a family.  `order`: the position of each op among all."""
    out = [emit.NOTE + f'#include "argand/ops/boxed_values.h"\n#include "argand/ops/{name}/args.h"\n\nnamespace argand {{\nnamespace ops {{']
    out += [f"extern OpInfo {op.name}_info;" for op in ops]
    out.append("}  // namespace ops\n\nnamespace boxed {\nnamespace {\n")
    entries = []
    for op in ops:
        out.append(call_of(op))
        fields = {a.name: i for i, a in enumerate(op.schema.args)}
        makes_leaf = (op.family in emit.LEAF_FAMILIES and op.schema.returns == ["Tensor"]
                      and any(a.type == "TensorOptions" for a in op.schema.args))
        for number, schema in enumerate(op.schemas):
            for form_number, (called, writes_first, outs) in enumerate(forms(op, schema)):
                symbol = f"{op.name}_{number}_{form_number}"
                args = [parameter(a, fields[a.name]) for a in schema.args]
                if writes_first:  # a number cannot be written
                    args[0] = args[0].replace("Tensor|Scalar", "Tensor").replace("kTensorOrNumber", "kTensor")
                given = args + [f'{{"{o}", "Tensor", Kind::kTensor, false, true, false, 0, -1}}' for o in outs]
                if given:
                    out.append(f"constexpr Parameter {symbol}[] = {{{', '.join(given)}}};")
                facts = [f'"{called}"', f'"{schema.overload}"', symbol if given else "{}", f"ops::{op.name}Args::kResults",
                         str(writes_first).lower(), f"&ops::{op.name}_info", str(order[op.name]), str(makes_leaf).lower(),
                         str(bool(outs)).lower(), f"call_{op.name}"]
                entries.append(f"    {{{', '.join(facts)}}},")
    out.append("const Function table[] = {\n" + "\n".join(entries) + "\n};\n")
    out.append(f"}}  // namespace\n\nstd::span<const Function> {name}_functions();\n"
               f"std::span<const Function> {name}_functions() {{ return table; }}\n\n}}  // namespace boxed\n}}  // namespace argand")
    return "\n".join(out) + "\n"


def table(families):
    declared = "\n".join(f"std::span<const Function> {f}_functions();" for f in families)
    calls = ", ".join(f"{f}_functions()" for f in families)
    return (emit.NOTE + f'#include "argand/ops/boxed_table.h"\n\nnamespace argand::boxed {{\n\n{declared}\n\n'
            f"std::vector<std::span<const Function>> families() {{ return {{{calls}}}; }}\n\n}}  // namespace argand::boxed\n")
