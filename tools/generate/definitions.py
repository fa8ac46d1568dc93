"""Finds op definitions in argand/ops/**/*.cpp: their schema, forms, documentation, and what their gradients read."""
import re
from dataclasses import dataclass, field
from pathlib import Path

from schema import Schema, SchemaError, parse

FORMS = {"kFunction": "function", "kMethod": "method", "kInplace": "inplace", "kOut": "out", "kCopy": "copy"}
DEFAULT_FORMS = {
    "Pointwise": {"function", "method", "inplace", "out"},
    "Kernel": {"function", "method"},
    "View": {"function", "method", "copy"},
    "Composite": {"function", "method"},
}


@dataclass
class Op:
    name: str                 # "Mul"
    kind: str                 # "Pointwise", ...
    family: str               # folder below argand/ops
    file: str
    schemas: list[Schema]     # the first is the op's own; the others are overloads and aliases of it
    forms: set[str]
    doc: str = ""
    gradient_reads: dict[str, set[str]] = field(default_factory=dict)  # argument -> the tensor arguments that its gradient reads
    saved_results: set[int] = field(default_factory=set)
    saves_metas: bool = False
    has_gradient: bool = False
    own_gradients: set[str] = field(default_factory=set)  # arguments with a gradient function of their own
    is_one_gradient: bool = False  # one function gives those of all arguments
    only_linear: bool = True     # false: a part of the result does not depend on an argument that no gradient reads
    body: str = ""
    only_cpu: bool = False       # a kernel without one for other devices: it runs on the CPU
    copies_first: bool = False   # NAME_copy is a view of a copy, not a copy of a view
    out_is_counted: bool = False # a sequence whose length is computed: a resize of out= is told in terms of the length
    out_keeps_shape: bool = False  # an out= with as many elements as the sequence keeps its shape
    out_chooses: str = ""        # where the call names no dtype, out= does: for a self "of any dtype", or "of floating point"
    without_out: list[str] = field(default_factory=list)  # aliases that have no out=, though the op has
    not_python_methods: list[str] = field(default_factory=list)  # methods of C++ that Python has as attributes, or writes by hand
    python_numbers: list[str] = field(default_factory=list)  # tensor arguments for which Python takes a number, too
    python_tensor_numbers: list[str] = field(default_factory=list)  # number arguments for which Python takes a tensor that requires grad, too
    python_one_by_one: bool = False  # Python takes the tensors of a list one by one, too: block_diag(a, b)
    python_sublists: bool = False    # Python takes einsum's subscripts as lists, too
    python_old_orders: list[list[str]] = field(default_factory=list)  # of old programs' arguments: x.add_(alpha, y)
    copy_of: "Op | None" = None  # NAME of which this is NAME_copy

    @property
    def schema(self):
        return self.schemas[0]


def strings(text):
    """The value of adjacent C++ string literals."""
    return "".join(s.replace('\\"', '"').replace("\\n", "\n") for s in re.findall(r'"((?:[^"\\]|\\.)*)"', text))


def member(text, name):
    m = re.search(rf"\b{name}\s*=\s*((?:[^;\"]|\"(?:[^\"\\]|\\.)*\")*);", text)
    return m.group(1) if m else None


def named(text, where, tag, known):
    """The names in a tag's text; one that the schemas lack is an error."""
    names = strings(text or "").split()
    for name in names:
        if name not in known:
            raise SchemaError(f"{where}: {tag} names {name}, which its schemas do not have")
    return names


def gradient_texts(text):
    """Names and bodies of the functions that take the gradient context."""
    for m in re.finditer(r"\b(\w+)\(const Ctx& c\b", text):
        start = text.index("{", m.end())
        depth = 0
        for i in range(start, len(text)):
            depth += {"{": 1, "}": -1}.get(text[i], 0)
            if depth == 0:
                yield m[1], text[start:i + 1]
                break


def read_overloads(text):
    m = re.search(r"\boverloads\[\]\s*=\s*\{(.*?)\};", text, re.S)
    if not m:
        return []
    # Adjacent literals are one schema; a comma outside quotes separates two.
    parts, quoted, current = [], False, ""
    for i, c in enumerate(m.group(1)):
        if c == '"':
            quoted = not quoted
        if c == "," and not quoted:
            parts.append(current)
            current = ""
        else:
            current += c
    return [strings(p) for p in parts + [current] if '"' in p]


def read_op(name, kind, text, path, ops_dir):
    where = f"{path}: {name}"
    schema_text = member(text, "schema")
    if schema_text is None:
        raise SchemaError(f"{where}: no `schema`")
    try:
        schemas = [parse(strings(schema_text))] + [parse(s) for s in read_overloads(text)]
    except SchemaError as e:
        raise SchemaError(f"{where}: {e}") from None
    python_defaults = strings(member(text, "python_defaults") or "").split()
    for a in schemas[0].args:
        a.python_default = a.name in python_defaults
    forms_text = member(text, "variants")
    forms = {FORMS[f] for f in re.findall(r"\w+", forms_text)} if forms_text else set(DEFAULT_FORMS[kind])
    if not schemas[0].arg("self"):
        forms -= {"method", "inplace"}
    op = Op(name, kind, path.relative_to(ops_dir).parts[0], str(path.relative_to(ops_dir.parent.parent)), schemas, forms)
    doc = member(text, "doc")
    op.doc = strings(doc) if doc else ""
    op.copies_first = member(text, "copies_first") == "true"
    op.only_linear = member(text, "only_linear") != "false"
    for tag in ("out_is_counted", "out_keeps_shape", "python_one_by_one", "python_sublists"):
        setattr(op, tag, member(text, tag) == "true")
    for tag in ("without_out", "not_python_methods", "python_numbers", "python_tensor_numbers"):
        setattr(op, tag, named(member(text, tag), where, tag, {x for s in schemas for x in (s.name, *(a.name for a in s.args))}))
    for order in strings(member(text, "python_old_orders") or "").split(";"):
        if order.strip():
            op.python_old_orders.append(named(f'"{order}"', where, "python_old_orders", {a.name for a in schemas[0].args}))
    op.out_chooses = strings(member(text, "out_chooses_dtype") or "")
    op.only_cpu = kind == "Kernel" and bool(re.search(r"static void cpu\(", text)) and not re.search(r"static void run\(", text)
    body = re.search(r"ARGAND_BODY\(", text)
    op.body = "yes" if body else ""
    tensor_names = {a.name for a in schemas[0].args if a.holds_tensors}
    op.own_gradients = set(re.findall(r"\bgrad_(\w+)\(const Ctx&", text)) & tensor_names
    op.is_one_gradient = bool(re.search(r"\bgrad\(const Ctx&", text))
    for function, grad in gradient_texts(text):
        op.has_gradient = True
        read = set(re.findall(r"\bc\.(\w+)", grad))
        # grad_weight() is that of one argument; what others read, any gradient may need.
        of = {function.removeprefix("grad_")} & tensor_names or tensor_names
        for name in of if function.startswith("grad_") else tensor_names:
            op.gradient_reads.setdefault(name, set()).update(read & tensor_names)
        op.saved_results |= {int(i or 0) for i in re.findall(r"\bc\.result\((\d*)\)", grad)}
        op.saves_metas |= bool(read & {"sizes", "strides", "offset", "dtype", "ndim"})
    return op


def copy_of(op):
    """permute_copy of permute: the same arguments, and a result in memory of its own."""
    name, rest = re.fullmatch(r"(\w+)(.*)", op.schema.text, re.S).groups()
    schema = parse(f"{name}_copy" + re.sub(r"\([a-z]\)", "", rest))
    return Op(op.name + "Copy", "Composite", op.family, op.file, [schema], {"function", "out"},
              f"{name}() in memory of its own.", copy_of=op)


def calls_left_to_cpu(root: Path):
    """What kernels of a GPU do not take, by the file that says so: [("sort", "rows that are not contiguous"), ...]."""
    found = []
    for folder in (root / "argand" / "kernels" / "cuda", root / "argand" / "ops"):
        for path in sorted(folder.rglob("*.cpp")):
            for reason in re.findall(r"throw NotOnDevice\(([^;]*)\);", path.read_text()):
                if not reason:
                    raise SchemaError(f"{path}: NotOnDevice() without what the kernel does not take")
                found.append((str(path.relative_to(root)), strings(reason)))
    return list(dict.fromkeys(found))


def read_ops(ops_dir: Path):
    """All ops, each with its copy behind it: in the order of the files and of the text in each, but those whose schema has an
    overload name come last, so that calls are tried against view(size) before view.dtype(dtype).  Two of one name are an error,
    and so is a struct without its ARGAND_OP."""
    found = {}
    for path in sorted(ops_dir.rglob("*.cpp")):
        if path.name.endswith("_test.cpp"):
            continue
        text = path.read_text()
        for m in re.finditer(r"^struct (\w+)(?: final)? : (Pointwise|Kernel|View|Composite)<(\w+)> \{", text, re.M):
            name = m.group(1)
            end = text.find(f"ARGAND_OP({name})", m.end())
            if end < 0:
                raise SchemaError(f"{path}: {name}: no ARGAND_OP({name}) after the struct")
            if m.group(3) != name + "Args":
                raise SchemaError(f"{path}: {name}: expected {m.group(2)}<{name}Args>, got <{m.group(3)}>")
            if name in found:
                raise SchemaError(f"{path}: {name} is defined in {found[name].file}, too")
            found[name] = read_op(name, m.group(2), text[m.end():end], path, ops_dir)
    in_order = sorted(found.values(), key=lambda op: "." in op.schema.text.split("(")[0])
    return [each for op in in_order for each in ([op, copy_of(op)] if "copy" in op.forms else [op])]
