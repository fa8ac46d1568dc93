"""Writes the Python front of the op definitions: for each overload a table of parameters and the C++ function that calls it
(python/bindings/call.h), and the type stubs that tools read."""
import ast
import itertools
import keyword
import re

import cpp_types
import emit

NOTE = emit.NOTE
# type -> (Kind, accessor of Call, what stands for it in signatures and stubs)
TYPES = {
    "Tensor": ("kTensor", "tensor", "Tensor"),
    "Tensor|Scalar": ("kTensorOrNumber", "operand", "Tensor | Number"),
    "Tensor[]": ("kTensorList", "tensors", "Sequence[Tensor]"),
    "Tensor?[]": ("kTensorList", "tensors", "Sequence[Tensor | None]"),
    "int": ("kInt", "integer", "builtins.int"),
    "float": ("kFloat", "number", "builtins.float"),
    "bool": ("kBool", "boolean", "builtins.bool"),
    "str": ("kText", "text", "str"),
    "Scalar": ("kScalar", "scalar", "Number"),
    "Scalar[]": ("kScalarList", "scalars", "Sequence[Number]"),
    "ScalarType": ("kDtype", "dtype", "_dtype"),
    "Device": ("kDevice", "device", "_device"),
    "MemoryFormat": ("kMemoryFormat", "memory_format", "_memory_format"),
    "float[]": ("kFloatList", "numbers", "Sequence[builtins.float]"),
}
OPTIONAL = {
    "Tensor": "optional_tensor", "int": "optional_integer", "float": "optional_number", "bool": "optional_boolean",
    "str": "optional_text", "Scalar": "optional_scalar", "ScalarType": "optional_dtype", "Device": "optional_device",
    "MemoryFormat": "optional_memory_format", "Generator": "generator", "float[]": "optional_numbers",
}
OPTIONS = [("dtype", "kDtype", "_dtype | None"), ("layout", "kLayout", "_layout | None"), ("device", "kDevice", "_device | str | builtins.int | None"),
           ("pin_memory", "kBool", "builtins.bool | None"), ("requires_grad", "kBool", "builtins.bool | None")]


class Parameter:
    def __init__(self, name, kind, value, stub, optional, default, keyword_only, length=0):
        self.name, self.kind, self.value, self.stub = name, kind, value, stub
        self.optional, self.default, self.keyword_only, self.length = optional, default, keyword_only, length
        self.one_by_one = False

    def table_entry(self):
        parts = [f'.name = "{self.name}"', f".kind = Kind::{self.kind}"]
        parts += [".optional = true"] if self.optional else []
        parts += [".has_default = true"] if self.default is not None else []
        parts += [".keyword_only = true"] if self.keyword_only else []
        parts += [f".length = {self.length}"] if self.length else []
        parts += [".one_by_one = true"] if self.one_by_one else []
        return "{" + ", ".join(parts) + "}"


def parameter(arg, index, is_function):
    """An argument of a schema as a parameter of Python's; `value` is the C++ text that reads it from the call."""
    name = "input" if arg.name == "self" and is_function else arg.name
    base = arg.type.removesuffix("?") if not arg.type.endswith("?[]") else arg.type
    optional = base != arg.type
    default = None if arg.default is None else cpp_types.default_value(arg, as_field=True)
    m = cpp_types.INT_LIST.fullmatch(arg.type)
    if m:
        # One number stands for a list of an optional one (`any(dim=0)`), and of one of fixed length (`stride=2`).
        optional = bool(m.group(2))
        length = int(m.group(1) or optional)
        value = f"c.optional_integers({index})" if optional else f"c.integers({index}{', ' + default if default else ''})"
        stub = "Sequence[builtins.int]" if not length else "builtins.int | Sequence[builtins.int]"
        return Parameter(name, "kIntList", value, stub + (" | None" if optional else ""), optional, arg.default,
                         arg.keyword_only, length)
    m = cpp_types.BOOL_LIST.fullmatch(arg.type)
    if m:
        return Parameter(name, "kBoolList", f"c.booleans<{m.group(1)}>({index})", "Sequence[builtins.bool]", False, arg.default,
                         arg.keyword_only)
    kind, accessor, stub = TYPES.get(base, ("kGenerator", "generator", "Generator"))
    if optional:
        value = f"c.{OPTIONAL[base]}({index})"
        if default not in (None, "{}"):
            value = f"(c.has({index}) ? {value} : {cpp_types.field_type(arg)}({default}))"
        return Parameter(name, kind, value, stub + " | None", True, arg.default, arg.keyword_only)
    value = f"c.{accessor}({index}{', ' + default if default not in (None, '{}') and accessor != 'tensor' else ''})"
    return Parameter(name, kind, value, stub, False, arg.default, arg.keyword_only)


def parameters(op, schema, is_function, order=None):
    """The parameters of a schema, and the C++ text that reads each of its arguments; `order`: the names of those to give, all of
    them by position, where the others keep their defaults."""
    if order:
        made = {a.name: parameter(a, order.index(a.name) if a.name in order else 0, is_function) for a in schema.args}
        for name in order:
            made[name].default, made[name].keyword_only = None, False
        return ([made[name] for name in order],
                [made[a.name].value if a.name in order else cpp_types.default_value(a, as_field=True) for a in schema.args])
    out, values = [], []
    for arg in schema.args:
        if arg.type == "TensorOptions":
            makes = "options" if any(a.name == "self" for a in schema.args) else "factory_options"
            values.append(f"c.{makes}({len(out)})")
            out += [Parameter(n, kind, "", stub, True, "None", True) for n, kind, stub in OPTIONS]
        else:
            out.append(parameter(arg, len(out), is_function))
            if arg.name in op.python_numbers and (is_function or arg.name != "self"):  # torch.mul(2, x), x.copy_(0.5)
                out[-1].kind, out[-1].value, out[-1].stub = "kTensorOrNumber", f"c.operand({len(out) - 1})", "Tensor | Number"
            if arg.name in op.python_tensor_numbers:
                out[-1].kind, out[-1].stub = "kTensorOrNumber", "Tensor | Number"
            if is_function and op.python_one_by_one and arg.type == "Tensor[]":
                out[-1].one_by_one = True
            values.append(out[-1].value)
    # `clamp(Scalar? min, Scalar? max=None)`: min has no default where C++ could not tell its overloads apart; Python can.
    for p, after in reversed(list(zip(out, out[1:]))):
        if out[0].kind == "kTensor" and p.kind == "kScalar" and p.optional and p.default is None and after.default is not None:
            p.default = "None"
    return out, values


def default_text(p):
    d = p.default
    if d in ("{}", None):
        return "None"
    return {"Mean": "1", "Sum": "2", "contiguous_format": "torch.contiguous_format",
            "preserve_format": "torch.preserve_format"}.get(d, d)


# What stubs say of a type, where that is more than messages do.
STUBS = {"_device": "_device | str | builtins.int", "_device | None": "_device | str | builtins.int | None"}
RESULTS = {"Tensor": "Tensor", "Tensor[]": "tuple[Tensor, ...]", "Scalar": "Number", "bool": "builtins.bool", "int": "builtins.int",
           "float": "builtins.float"}


def stub_default(p):
    """A default as Python's text; `...` if it has none of its own, as for a value that is found at the call."""
    text = default_text(p).replace("torch.", "").replace("true", "True").replace("false", "False")
    if text in ("contiguous_format", "preserve_format"):
        return text
    text = re.sub(r"^\[(.*)\]$", lambda m: f"({m[1]},)" if m[1] else "()", text)
    try:
        return repr(ast.literal_eval(text))
    except (SyntaxError, ValueError):
        return "..."


def plain(stub):
    """A type as messages show it."""
    stub = re.sub(r"builtins\.|\b_(?=dtype|device|layout|memory_format)", "", stub)
    return stub.replace("Sequence[int]", "ints").replace("Sequence[Tensor]", "Tensors")


def signature(params, skip_self):
    parts, star = [], False
    for p in params[1:] if skip_self else params:
        if p.keyword_only and not star:
            parts.append("*")
            star = True
        parts.append(f"{plain(p.stub)} {p.name}"
                     + (f"={default_text(p)}" if p.default is not None else ""))
    return ", ".join(parts)


class Overload:
    """One schema in one form: `function` (with `out=` where there is one), `method`, `inplace`."""

    def __init__(self, op, schema, form, number, order=None):
        self.op, self.schema, self.form, self.is_old = op, schema, form, order is not None
        self.is_function = form == "function"
        if order and not self.is_function:
            order = ["self"] + [name for name in order if name != "self"]
        self.parameters, self.values = parameters(op, schema, self.is_function, order)
        # Declared by emit.Api.out.
        self.fills_out = form == "function" and schema.is_factory and "function" in op.forms and "out" not in op.forms
        self.has_out = self.fills_out or (form == "function" and bool(schema.returns) and emit.has_out(op, schema))
        self.symbol = f"{op.name}_{number}_{form}"
        if self.has_out:
            n = len(schema.returns)
            self.parameters.append(Parameter("out", "kTensor" if n == 1 else "kTensorList", "",
                                             "Tensor | None" if n == 1 else "Sequence[Tensor] | None", True, "None", True))

    def names(self):
        names = self.schema.return_names
        return names if len(names) > 1 and all(names) and not self.schema.name.startswith("_") else None

    def definition(self):
        s = self.schema
        lines = [f"constexpr Parameter {self.symbol}_parameters[] = {{"
                 + ", ".join(p.table_entry() for p in self.parameters) + "};"] if self.parameters else []
        if self.names():
            lines.append(f"constexpr const char* {self.symbol}_results[] = {{" + ", ".join(f'"{n}"' for n in self.names()) + ", nullptr};")
        body = [f"  [[maybe_unused]] auto&& a{i} = {v};" for i, v in enumerate(self.values)]
        given = [f"a{i}" for i in range(len(self.values))]
        self_at = next((i for i, a in enumerate(s.args) if a.name == "self"), None)
        in_place = self.form == "inplace" or s.in_place_only
        if in_place and s.returns and self_at is not None:
            name = s.name if s.in_place_only else s.name + "_"
            rest = ", ".join(g for i, g in enumerate(given) if i != self_at)
            body.append(f"  return answer_with(c, {self_at}, [&] {{ a{self_at}.{name}({rest}); }});")
        else:
            if self.has_out:
                at, n = len(self.parameters) - 1, len(s.returns)
                outs = ["out"] if n == 1 else [f"out[{i}]" for i in range(n)]
                body.append(f"  if (c.has({at}) && c.object({at}) != Py_None) {{")
                if n == 1:
                    body.append(f"    Tensor out = c.tensor({at});")
                else:
                    body.append(f"    std::vector<Tensor> out = c.tensors({at});")
                    body.append(f'    ARGAND_CHECK(ValueError, out.size() == {n}, "{s.name}(): expected {n} tensors in out, got ", out.size());')
                written = given
                if self.fills_out:
                    options = next(i for i, p in enumerate(self.parameters) if p.kind == "kDtype")
                    body.append(f"    c.check_options({options}, out);")
                    written = [g for g, a in zip(given, s.args) if a.type != "TensorOptions"]
                body.append(f"    return answer_with(c, {at}, [&] {{ argand::{s.name}_out({', '.join(outs + written)}); }});\n  }}")
            if "function" in self.op.forms or s.in_place_only:
                called = f"argand::{s.name}({', '.join(given)})"
            else:
                called = f"a{self_at}.{s.name}({', '.join(g for i, g in enumerate(given) if i != self_at)})"
            body.append(f"  return answer(c, [&] {{ return {called}; }});")
        lines.append(f"PyObject* {self.symbol}([[maybe_unused]] const Call& c) {{\n" + "\n".join(body) + "\n}")
        return "\n".join(lines)

    def table_entry(self):
        text = "" if self.is_old else signature(self.parameters, not self.is_function).replace('"', '\\"')
        params = f"{self.symbol}_parameters" if self.parameters else "{}"
        results = f"{self.symbol}_results" if self.names() else "nullptr"
        return f'{{"{text}", {params}, {self.symbol}, {results}}}'

    def stub_of_numbers(self, name, is_method):
        """The types of a call whose sizes or tensors are given one by one, in a list; an empty one where that cannot be."""
        positional = [p for p in self.parameters if not p.keyword_only]
        last = positional[-1] if positional else None
        if last and last.one_by_one:
            return [re.sub(rf"\b{last.name}: Sequence\[Tensor\](, \*)?", f"*{last.name}: Tensor", self.stub(name, is_method))]
        if not last or last.kind != "kIntList" or last.length or len(positional) != 1 + is_method:
            return []
        return [re.sub(rf"\b{last.name}: Sequence\[builtins\.int\](?: = [^,)]*(?:\(\))?)?(, \*)?", rf"*{last.name}: builtins.int",
                       self.stub(name, is_method))]

    def stub(self, name, is_method):
        parts, star = [], False
        for p in self.parameters:
            if is_method and p is self.parameters[0]:
                parts.append("self")
                continue
            if p.keyword_only and not star:
                parts.append("*")
                star = True
            parts.append(f"{p.name}: {STUBS.get(p.stub, p.stub)}" + (f" = {stub_default(p)}" if p.default is not None else ""))
        doc = self.op.doc.partition("\n\n")[0].strip()
        body = '"""' + doc.replace("\\", "\\\\") + (" " if doc.endswith('"') else "") + '"""' if doc else "..."
        return f"def {name}({', '.join(parts)}) -> {self.stub_of_results()}: {body}"

    def stub_of_results(self):
        returns = self.schema.returns
        if self.names():
            return "_return_types." + self.schema.name
        types = [RESULTS[r] for r in returns]
        return {0: "None", 1: types[0] if types else ""}.get(len(types)) or f"tuple[{', '.join(types)}]"


def return_types(ops):
    """return_types.pyi: the named tuples of the functions with several results."""
    fields = {}
    for overloads in tables(ops).values():
        for o in overloads:
            if o.names():
                found = list(zip(o.names(), (RESULTS[r] for r in o.schema.returns)))
                assert fields.setdefault(o.schema.name, found) == found, o.schema.name
    out = ['''"""The named tuples that functions with several results return, such as return_types.max for max()."""
import builtins
from typing import Iterable

from typing_extensions import Self

from ._C import Tensor

all_return_types: builtins.list[builtins.type]''']
    for name, results in sorted(fields.items()):
        out.append(f"\nclass {name}(tuple[{', '.join(kind for _, kind in results)}]):\n"
                   f"    __match_args__ = ({', '.join(repr(field) for field, _ in results)})\n"
                   "    def __new__(cls, values: Iterable[object]) -> Self: ...")
        out += [f"    @property\n    def {field}(self) -> {kind}: ..." for field, kind in results]
    return "\n".join(out) + "\n"


def forms(op, schema):
    """The forms of a schema that Python sees, as (name, form)."""
    self_arg = schema.arg("self")
    if schema.in_namespace:
        return [(schema.name, "function")]
    takes_self = self_arg is not None and schema.args[0] is self_arg and self_arg.type == "Tensor"
    if schema.in_place_only:
        return ([(schema.name, "function")] if "function" in op.forms or not schema.returns else []) + (
            [(schema.name, "method")] if schema.returns and takes_self else [])
    out = [(schema.name, "function")] if "function" in op.forms else []
    # `2 ** x`: what may be a number is the object of a method all the same, where it is a tensor.
    takes_self |= self_arg is not None and schema.args[0] is self_arg and self_arg.type == "Tensor|Scalar"
    if "method" in op.forms and takes_self and schema.name not in op.not_python_methods:
        out.append((schema.name, "method"))
    if "inplace" in op.forms and takes_self and schema.returns == ["Tensor"]:
        out.append((schema.name + "_", "inplace"))
        if "function" in op.forms:
            out.append((schema.name + "_", "inplace_function"))
    return out


def tables(ops):
    """{(name, is_method): [Overload]} in the order of the definitions."""
    found, numbers = {}, itertools.count()
    for op in ops:
        for schema in op.schemas:
            made = {}
            for name, form in forms(op, schema):
                kind = "inplace" if form.startswith("inplace") else form
                # In place, function and method are one C++ function.
                if kind not in made:
                    made[kind] = [Overload(op, schema, kind, next(numbers), order)
                                  for order in (None, *(op.python_old_orders if schema.name == op.schema.name else ()))]
                found.setdefault((name, form in ("method", "inplace")), []).extend(made[kind])
    return found


def bindings(ops):
    """{file name: text}: one file for each family, and one that adds everything to the module."""
    found = tables(ops)
    family_of = lambda overloads: overloads[0].op.family  # noqa: E731
    files, declared = {}, []
    for family, group in itertools.groupby(sorted(found.items(), key=lambda i: family_of(i[1])), key=lambda i: family_of(i[1])):
        group = list(group)
        text = [NOTE + f'#include "{emit.header_of(family)}"\n#include "bindings/call.h"\n#include "bindings/modules.h"\n\n'
                "namespace argand::python {\nnamespace {\n"]
        functions, methods, written = [], [], set()
        for (name, is_method), overloads in group:
            for o in overloads:
                if o.symbol not in written:
                    text.append(o.definition())
                    written.add(o.symbol)
            kind = "method" if is_method else "function"
            table = f"{kind}_{name}_overloads"
            text.append(f"constexpr Overload {table}[] = {{" + ",\n  ".join(o.table_entry() for o in overloads) + "};")
            doc = next((o.op.doc for o in overloads if o.op.doc), "")
            doc = doc.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
            sublists = ", true" if not is_method and any(o.op.python_sublists for o in overloads) else ""
            (methods if is_method else functions).append(f'    {{"{name}", "{doc}", {table}{sublists}}},')
        text.append("constexpr FunctionTable functions[] = {\n" + "\n".join(functions) + "\n};")
        text.append("constexpr FunctionTable methods[] = {\n" + "\n".join(methods) + "\n};" if methods
                    else "constexpr std::span<const FunctionTable> methods;")
        text.append(f"}}  // namespace\n\nvoid add_{family}(nb::module_& module) {{\n"
                    "  for (const FunctionTable& table : functions) add_function(module.ptr(), table);\n"
                    "  for (const FunctionTable& table : methods) add_method(tensor_type, table);\n}\n\n}  // namespace argand::python\n")
        files[f"{family}.cpp"] = "\n".join(text)
        declared.append(family)
    files["operators.cpp"] = (
        NOTE + '#include "bindings/modules.h"\n\nnamespace argand::python {\n\n'
        + "\n".join(f"void add_{f}(nb::module_& module);" for f in declared)
        + "\n\nvoid add_operators(nb::module_& module) {\n" + "\n".join(f"  add_{f}(module);" for f in declared)
        + "\n}\n\n}  // namespace argand::python\n")
    return files


def stubs(ops, template):
    """_C.pyi: the template with the operators' functions and methods of Tensor in it.  What the template declares itself
    (because Python's form is another) is left out."""
    found = tables(ops)
    written = set(re.findall(r"^    def (\w+)\(", template[template.index("\nclass Tensor:"):], re.M))

    def lines(is_method, indent):
        out = []
        for (name, method), overloads in sorted(found.items()):
            if method != is_method or keyword.iskeyword(name) or (is_method and name in written):
                continue
            # Sizes one by one come last: they match a call without arguments, too.
            overloads = [o for o in overloads if not o.is_old]
            stubs = [o.stub(name, is_method) for o in overloads]
            stubs += [s for o in overloads for s in o.stub_of_numbers(name, is_method)]
            for stub in stubs:
                # A parameter named as a keyword (random_'s `from`) can be given by position alone.
                stub = re.sub(r"\b(from|lambda)(:)", r"\1_\2", stub)
                out.append((indent + "@overload\n" if len(stubs) > 1 else "") + indent + stub)
        return "\n".join(out)

    return template.replace("    # @METHODS@", lines(True, "    ")).replace("# @FUNCTIONS@", lines(False, ""))
