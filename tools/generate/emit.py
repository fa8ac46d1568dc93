"""Writes what is derived from the op definitions: argument structs, functions, methods, the table, the reference page."""
import itertools
from copy import copy

import cpp_types

LEAF_FAMILIES = ("create", "random")  # their functions honour requires_grad among the options
# Declared in a header of their own, argand/ops/<family>/functions.h, which functions.h does not include: every file of the library
# includes that one, and few need these.
APART = ("vision",)
LINE = 120  # columns of a page
NOTE = "// Generated from the op definitions in argand/ops by tools/generate.  Do not edit.\n"


def camel(name):
    return "".join(w.capitalize() for w in name.split("_"))


# ---- argument structs


def form_facts(op):
    """Which forms of the op there are, for the table; Api below declares them."""
    s, self_arg = op.schema, op.schema.arg("self")
    takes_self = self_arg is not None and self_arg.is_tensor and s.returns == ["Tensor"]
    return {
        "kInplaceOnly": s.in_place_only,
        "kHasInplace": not s.in_place_only and op.kind != "Composite" and "inplace" in op.forms and takes_self,
        "kHasOut": not s.in_place_only and "out" in op.forms and all(r == "Tensor" for r in s.returns),
        "kRandom": op.family == "random" or any(a.type == "Generator?" for a in s.args),
    }


def emit_args(op):
    s = op.schema
    tensors = [a for a in s.args if a.holds_tensors]
    scalars = [a for a in s.args if a.type in ("Scalar", "float", "int", "bool")]
    has_list = any(a.is_tensor_list for a in tensors)
    out = [f"struct {op.name}Args {{"]
    if tensors and not has_list:
        out.append("  struct Index {\n    enum : int { " + ", ".join(f"k{camel(a.name)} = {i}" for i, a in enumerate(tensors)) + " };\n  };")
    else:
        out.append("  struct Index {};")
    out.append(f"  using Result = {cpp_types.result_type(s)};")
    out.append(f'  static constexpr const char* kName = "{s.full_name}";')
    arguments = ", ".join(f'{{"{a.name}", "{a.type}", {str(a.keyword_only).lower()}}}' for a in s.args)
    results = ", ".join(f'{{"{name}", "{type_}"}}' for name, type_ in zip(s.return_names, s.returns))
    out.append(f'  static constexpr const char* kOverload = "{s.overload}";')
    out.append(f"  static constexpr std::array<SignatureArgument, {len(s.args)}> kArguments{{{{{arguments}}}}};")
    out.append(f"  static constexpr std::array<SignatureResult, {len(s.returns)}> kResults{{{{{results}}}}};")
    tensor_results = len(s.returns) if all(r == "Tensor" for r in s.returns) else 0
    saved_results = sum(1 << i for i in op.saved_results)
    required = sum(1 << i for i, a in enumerate(s.args) if a.holds_tensors and not a.is_tensor_list and a.type != "Tensor?"
                   and all(overload.arg(a.name) for overload in op.schemas))
    reads = [sum(1 << i for i, b in enumerate(s.args) if b.name in op.gradient_reads.get(a.name, ())) for a in s.args]
    out.append(f"  static constexpr int kNumOutputs = {tensor_results}, kNumTensors = {len(tensors)}, kNumScalars = {len(scalars)};")
    out.append(f"  static constexpr uint32_t kRequiredTensors = {required:#x};")
    out.append(f"  static constexpr uint32_t kGradientReads[] = {{{', '.join(map(hex, reads or [0]))}}}, kSavedResults = {saved_results:#x};")
    out.append(f"  static constexpr bool kSavesMetas = {str(op.saves_metas).lower()};")
    forms = ", ".join(f"{name} = {str(value).lower()}" for name, value in form_facts(op).items())
    out.append(f"  static constexpr bool {forms};")
    for a in s.args:
        default = cpp_types.default_value(a, as_field=True)
        out.append(f"  {cpp_types.field_type(a)} {a.name}{' = ' + default if default not in (None, '{}') else '{}'};")
    body = []
    for i, a in enumerate(s.args):
        if a.is_tensor_list:
            body.append(f"    for (Tensor& t : {a.name}) f(t, {i});")
        elif a.is_tensor:
            body.append(f"    f({a.name}, {i});")
    out.append("  template <class F>\n  void each_tensor([[maybe_unused]] F&& f) {\n" + "\n".join(body) + "\n  }")
    out.append("  template <class F>\n  void each_scalar([[maybe_unused]] F&& f) const {\n" + "\n".join(f"    f({a.name});" for a in scalars) + "\n  }")
    values = "\n".join(f'    add_argument(collected, "{a.name}", {a.name});' for a in s.args)
    out.append("  void collect_values([[maybe_unused]] ArgumentValues& collected) const {\n" + values + "\n  }")
    gradients = [] if has_list else [a for a in tensors]
    mask = " | ".join(
        f"(requires(const typename Op::Ctx& c, const {g}& g) {{ Op::grad_{a.name}(c, g); }} ? {1 << i}u : 0u)"
        for i, a in enumerate(gradients) for g in ("Tensor", "Grads"))
    out.append(f"  template <class Op>\n  static constexpr uint32_t kArgumentGrads = {mask or '0'};")
    calls = "\n".join(f"    if constexpr (requires {{ Op::grad_{a.name}(c, g); }})\n"
                      f"      if (c.needs({i})) out[{i}] = Op::grad_{a.name}(c, g);" for i, a in enumerate(gradients))
    out.append("  template <class Op, class Ctx, class G>\n  static void call_gradients([[maybe_unused]] const Ctx& c, "
               "[[maybe_unused]] const G& g, [[maybe_unused]] Grads& out) {\n" + calls + "\n  }")
    out.append("};")
    return "\n".join(out)


def args_header(ops):
    return (NOTE + '#pragma once\n#include "argand/ops/convert_args.h"\n\nnamespace argand::ops {\n\n'
            + "\n\n".join(emit_args(op) for op in ops) + "\n\n}  // namespace argand::ops\n")


# ---- functions and methods


def with_numbers(schema):
    """A schema with `Tensor|Scalar` arguments as the C++ overloads it stands for (all-number calls have no tensor)."""
    either = [i for i, a in enumerate(schema.args) if a.type == "Tensor|Scalar"]
    for choice in itertools.product(["Tensor", "Scalar"], repeat=len(either)):
        s = copy(schema)
        s.args = [copy(a) for a in schema.args]
        s.numbers = set()
        for i, kind in zip(either, choice):
            s.args[i].type = kind
            if kind == "Scalar":
                s.numbers.add(s.args[i].name)
        if not either or any(a.holds_tensors for a in s.args):
            yield s


def parameters(args, defaults):
    parts = []
    for a in args:
        text = f"{cpp_types.parameter_type(a)} {a.name}"
        default = cpp_types.default_value(a, as_field=False)
        if defaults and default is not None and not a.python_default:
            text += f" = {default}"
        parts.append(text)
    return ", ".join(parts)


def fill(op, schema, self_text):
    """Initialisers of the argument struct, in its order; what an overload does not name keeps its default."""
    given = {a.name: a for a in schema.args}
    parts = []
    for a in op.schema.args:
        g = given.get(a.name)
        if g is None:
            continue
        if a.name == "self" and self_text:
            value = self_text
        elif a.name in schema.numbers or (a.holds_tensors and g.type == "Scalar"):
            value = f"exec::wrapped_number({a.name})"
        elif a.holds_tensors and g.type == "Scalar?":
            value = f"exec::optional_number({a.name})"
        elif g.type == "int" and cpp_types.INT_LIST.fullmatch(a.type):
            value = f"Dims{{{a.name}}}"
        else:
            value = cpp_types.to_field(g)
        parts.append(f".{a.name} = {value}")
    return f"  ops::{op.name}Args args{{" + ", ".join(parts) + "};\n"


def call(op, schema):
    info = f"ops::{op.name}_info"
    n = len(schema.returns)
    makes_leaf = op.family in LEAF_FAMILIES and schema.returns == ["Tensor"] and any(a.type == "TensorOptions" for a in schema.args)
    if op.kind == "Composite":
        result = "argand::ops::as_leaf(std::move(result), options)" if makes_leaf else "result"
        return f"  {cpp_types.result_type(schema)} result{{}};\n  exec::invoke_composite({info}, &args, &result);\n  return {result};\n"
    if makes_leaf:
        return f"  return argand::ops::as_leaf(exec::invoke({info}, &args), options);\n"
    if n == 0:
        return f"  exec::invoke({info}, &args, {{}});\n"
    if n == 1:
        return f"  return exec::invoke({info}, &args);\n"
    return (f"  Tensor outs[{n}];\n  exec::invoke({info}, &args, outs);\n  return {{"
            + ", ".join(f"std::move(outs[{i}])" for i in range(n)) + "};\n")


def has_out(op, s):
    """Whether the schema has a form NAME_out, which takes existing tensors after the results."""
    return "out" in op.forms and not s.in_place_only and s.name not in op.without_out and all(r == "Tensor" for r in s.returns)


def out_function(op, s):
    """The declaration and the definition of NAME_out."""
    n = len(s.returns)
    names = ["out"] if n == 1 else [f"out{i}" for i in range(n)]
    outs = ", ".join(f"Tensor& {x}" for x in names)
    result = "Tensor&" if n == 1 else "std::tuple<" + ", ".join(["Tensor&"] * n) + ">"
    chooses = ""
    if op.out_chooses:
        chooses = f'  exec::dtype_by_out("{s.name}", args.dtype, out);\n'
        if op.out_chooses == "of floating point":  # of others the op says that they have no mean
            chooses = f"  if (args.dtype || !is_integral(args.self.dtype(), true))\n  {chooses}"
    body = (fill(op, s, None) + chooses + f"  Tensor outs[] = {{{', '.join(names)}}};\n"
            f"  exec::invoke_out(ops::{op.name}_info, &args, outs);\n"
            + ("  return out;\n" if n == 1 else f"  return {{{', '.join(names)}}};\n"))
    comma = ", " if s.args else ""
    return (f"{result} {s.name}_out({outs}{comma}{parameters(s.args, True)});",
            f"{result} {s.name}_out({outs}{comma}{parameters(s.args, False)}) {{\n{body}}}")


class Api:
    """Declarations and definitions of one op, as (declaration, definition) pairs."""

    def __init__(self, op):
        self.functions, self.methods = [], []
        for schema in op.schemas:
            for s in with_numbers(schema):
                self.add(op, s)

    def add(self, op, s):
        self_arg = s.arg("self")
        rest = [a for a in s.args if a.name != "self"]
        # `2 - x`: the number comes first, so there is no tensor to be the method's object or to be written in place.
        self_is_tensor = self_arg is not None and "self" not in s.numbers and self_arg.type == "Tensor" and not s.in_namespace
        result = cpp_types.result_type(s)
        if s.in_place_only:
            if s.returns:
                self.in_place(op, s, s.name, rest)
            else:
                self.functions.append((f"void {s.name}({parameters(s.args, True)});",
                                       f"void {s.name}({parameters(s.args, False)}) {{\n{fill(op, s, None)}{call(op, s)}}}"))
            return
        if "function" in op.forms:
            self.functions.append((f"{result} {s.name}({parameters(s.args, True)});",
                                   f"{result} {s.name}({parameters(s.args, False)}) {{\n{fill(op, s, None)}{call(op, s)}}}"))
            if s.is_factory and "out" not in op.forms:
                self.factory_out(op, s)
        if "method" in op.forms and self_is_tensor:
            self.methods.append((f"{result} {s.name}({parameters(rest, True)}) const;",
                                 f"{result} Tensor::{s.name}({parameters(rest, False)}) const {{\n{fill(op, s, '*this')}{call(op, s)}}}"))
        if "inplace" in op.forms and self_is_tensor and s.returns == ["Tensor"]:
            self.in_place(op, s, s.name + "_", rest)
        if has_out(op, s):
            self.functions.append(out_function(op, s))

    def in_place(self, op, s, name, rest):
        run = f"  exec::invoke_inplace(ops::{op.name}_info, &args, {{}});\n"
        if op.kind == "Composite":
            run = f"  Tensor result;\n  exec::invoke_composite(ops::{op.name}_info, &args, &result);\n"
        self.methods.append((f"Tensor& {name}({parameters(rest, True)}) const;",
                             f"Tensor& Tensor::{name}({parameters(rest, False)}) const {{\n{fill(op, s, '*this')}"
                             + run.format("*this") + "  return const_cast<Tensor&>(*this);\n}"))
        if "function" not in op.forms:
            return
        declared = f"Tensor& {name}(Tensor& self{', ' if rest else ''}{parameters(rest, True)});"
        defined = f"Tensor& {name}(Tensor& self{', ' if rest else ''}{parameters(rest, False)}) {{\n"
        self.functions.append((declared, defined + fill(op, s, "self") + run.format("self") + "  return self;\n}"))

    def factory_out(self, op, s):
        """zeros_out(out, size): what is made has the dtype and the device of `out`."""
        given = [a for a in s.args if a.type != "TensorOptions"]
        values = ", ".join("ops::options_of(out)" if a.type == "TensorOptions" else a.name for a in s.args)
        comma = ", " if given else ""
        write = f"  return ops::fill_out(out, {s.name}({values}));\n"
        if op.out_keeps_shape:
            write = (f"  const Tensor made = {s.name}({values});\n"
                     + ("  exec::warn_of_count(out, made.sizes());\n" if op.out_is_counted else "")
                     + "  return ops::fill_out(out, made.numel() == out.numel() ? made.view(out.sizes()) : made);\n")
        self.functions.append((f"Tensor& {s.name}_out(Tensor& out{comma}{parameters(given, True)});",
                               f"Tensor& {s.name}_out(Tensor& out{comma}{parameters(given, False)}) {{\n{write}}}"))


def functions_header(apis):
    lines = [d for api in apis for d, _ in api.functions]
    return (NOTE + '#pragma once\n#include <array>\n\n#include "argand/core/reduction.h"\n#include "argand/core/tensor.h"\n\nnamespace argand {\n\n'
            + "\n".join(lines) + "\n\n}  // namespace argand\n")


def header_of(family):
    """The header that declares the functions of a family."""
    return f"argand/ops/{family}/functions.h" if family in APART else "argand/ops/functions.h"


def family_header(ops, apis):
    """That of a family in APART."""
    return functions_header(apis) + "\n" + "\n".join(in_their_namespaces(ops))


def in_namespaces(ops):
    """(schema, declaration, definition) of functions of torch.linalg and the like under their names there."""
    for s in (s for op in ops if "function" in op.forms for schema in op.schemas for s in with_numbers(schema) if s.in_namespace):
        result, name = cpp_types.result_type(s), s.in_namespace[1]
        yield s, f"{result} {name}({parameters(s.args, True)});", (
            f"{result} {s.in_namespace[0]}::{name}({parameters(s.args, False)}) {{\n"
            f"  return {s.name}({', '.join(a.name for a in s.args)});\n}}")


def namespaces_header(ops):
    return "\n".join([NOTE + '#pragma once\n#include "argand/ops/functions.h"\n', *in_their_namespaces(ops)])


def in_their_namespaces(ops):
    out = []
    functions = sorted(in_namespaces(ops), key=lambda f: f[0].in_namespace[0])
    for namespace, group in itertools.groupby(functions, key=lambda f: f[0].in_namespace[0]):
        lines = [declaration for _, declaration, _ in group]
        out.append(f"namespace argand::{namespace} {{\n\n" + "\n".join(lines) + f"\n\n}}  // namespace argand::{namespace}\n")
    return out


def methods_include(apis):
    return NOTE + "\n".join("  " + d for api in apis for d, _ in api.methods) + "\n"


def definitions(family, ops, apis):
    infos = "\n".join(f"extern OpInfo {op.name}_info;" for op in ops)
    bodies = [text for api in apis for _, text in api.functions + api.methods] + [text for _, _, text in in_namespaces(ops)]
    header = header_of(family) if family in APART else "argand/ops/namespaces.h"
    return (NOTE + f'#include "argand/exec/invoke.h"\n#include "argand/exec/out_dtype.h"\n#include "{header}"\n#include "argand/ops/{family}/args.h"\n\n'
            f"namespace argand {{\nnamespace ops {{\n{infos}\n}}  // namespace ops\n\n" + "\n\n".join(bodies) + "\n\n}  // namespace argand\n")


def copies(family, ops):
    """Definitions of the ops NAME_copy, in the ops NAME that are defined by hand.  A family without any has an empty file, so
    that which files there are follows from the families alone."""
    if not ops:
        return NOTE
    out = [NOTE + f'#include "argand/ops/copies.h"\n#include "argand/ops/{family}/args.h"\n\nnamespace argand::ops {{\n']
    for op in ops:
        view, names = op.copy_of, [a.name for a in op.schema.args]
        called = f"{view.schema.name}({', '.join(f'a.{name}' for name in names[1:])})"
        made = f"copied(a.self).{called}" if view.copies_first else f"copied(a.self.{called})"
        fields = ", ".join(f".{name} = std::move(a.{name})" for name in names)
        out.append(f"""extern OpInfo {view.name}_info;
struct {op.name} : Composite<{op.name}Args> {{
  static constexpr auto schema = "{op.schema.text}";
  static constexpr auto doc = "{op.doc}";
  static constexpr bool out_is_exact = true;
  static Result compose(const Args& a) {{ return {made}; }}
  static void samples(S& s) {{
    each_sample<{view.name}Args>({view.name}_info, s, []({view.name}Args& a) {{ return Args{{{fields}}}; }});
  }}
}};
ARGAND_OP({op.name})
ARGAND_NODE({op.name}, detail::copy_of<{view.name}Args>)
""")
    return "\n".join(out) + "\n}  // namespace argand::ops\n"


def table(ops):
    infos = "\n".join(f"extern OpInfo {op.name}_info;" for op in ops)
    pointers = ", ".join(f"&ops::{op.name}_info" for op in ops)
    includes = "".join(f'#include "argand/ops/{family}/args.h"\n' for family in sorted({op.family for op in ops}))
    facts = ",\n".join(f"      {{&ops::{op.name}_info, {{copy<ops::{op.name}Args>, {own_gradients(op):#x}, {str(op.is_one_gradient).lower()}, "
                       f"{str(op.only_linear).lower()}}}}}" for op in ops if op.kind != "Composite")
    return (NOTE + '#include <unordered_map>\n\n#include "argand/exec/call_facts.h"\n' + includes + "\nnamespace argand {\nnamespace ops {\n" + infos
            + "\n}  // namespace ops\n\nstd::span<OpInfo* const> all_ops() {\n  static OpInfo* const table[] = {" + pointers
            + "};\n  return table;\n}\n\nnamespace exec {\n\ntemplate <class Args>\nstatic std::shared_ptr<void> copy(const void* args) {\n"
            "  return std::make_shared<Args>(*static_cast<const Args*>(args));\n}\n\n"
            "const CallFacts* call_facts(const OpInfo& op) {\n  static const auto& all = *new std::unordered_map<const OpInfo*, CallFacts>{\n"
            + facts + "};\n  const auto at = all.find(&op);\n  return at == all.end() ? nullptr : &at->second;\n}\n\n}  // namespace exec\n"
            "}  // namespace argand\n")


def own_gradients(op):
    return sum(1 << i for i, a in enumerate(op.schema.args) if a.name in op.own_gradients)


# ---- the reference page


# What stands before the operators on the reference page.
ON_A_GPU = """## On a GPU

Every operator runs on tensors of a GPU. {fallbacks}
`tests/conformance/kernels_test.cpp` checks this.

Some kernels leave some calls to the CPU: their tensors go there and the results return, with one warning that says why:

| file | not taken |
|---|---|"""


def reference(ops, calls_left_to_cpu):
    out = ["# Operators", "", "Generated from the op definitions by `./dev docs`; do not edit.", ""]
    only_cpu = sorted(op.schema.full_name for op in ops if op.only_cpu)
    names = "These run on the CPU then: " + ", ".join(f"`{name}`" for name in only_cpu) + "."
    out.append(ON_A_GPU.format(fallbacks=names if only_cpu else "None of them runs on the CPU then (`argand ops --fallbacks`)."))
    out += [f"| `{path}` | {reason} |" for path, reason in calls_left_to_cpu]
    out.append("")
    for op in sorted(ops, key=lambda o: (o.schema.name.lower(), o.name)):
        out.append(f"## {op.schema.full_name}" + (f" ({op.schema.overload})" if op.schema.overload else ""))
        out.append("```\n" + "\n".join(s.text for s in op.schemas) + "\n```")
        if op.doc:
            out.append(op.doc)
        facts = [op.kind.lower(), "forms: " + ", ".join(sorted(op.forms)) if not op.schema.in_place_only else "forms: inplace"]
        facts.append("differentiable" if op.has_gradient or op.kind == "Composite" else "no gradient")
        if op.only_cpu:
            facts.append("on the CPU also for tensors of a GPU")
        said, place = "*" + "; ".join(facts) + "*", f"(`{op.file}`)"
        out.append(said + (" " if len(said) + len(place) < LINE else "\n") + place + "\n")
    return "\n".join(out)
