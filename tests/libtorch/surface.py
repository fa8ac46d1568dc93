"""What a program can name after #include <torch/torch.h>, in LibTorch and here: headers, macros, names, members, calls.

    python surface.py --build BUILD [--pytorch FOLDER_OF_INCLUDE] [--all]
    python surface.py --self-test

Prints what LibTorch has, Argand lacks and surface_known.txt does not name, and lines there that name nothing; exits with
1 if there is any. The lines of that list, and of what is printed with --all, are

    header ATen/cuda/Atomic.cuh                        a file under include/
    macro TORCH_CHECK_ALWAYS_SHOW_CPP_STACKTRACE       a macro of those headers
    name nn::functional::detail::glu                   a name in torch, at, c10 or caffe2, which are one namespace here
    member Tensor::_nnz                                a public member, also an inherited one, of a class that both have
    call Tensor::fill_(Tensor)                         an overload of a function or method that both have

Calls are compared by the kinds of their parameters (a tensor, a number, a list of integers, ...), not by their C++ types.
Exits with 77, and a sentence, where the Python that runs it has no PyTorch or no libclang (pip install libclang).
"""
import argparse
import importlib.util
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from known import Known  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
KNOWN = pathlib.Path(__file__).with_name("surface_known.txt")
ROOTS = ("torch", "at", "c10", "caffe2", "argand")
HEADERS = ("torch/torch.h", "ATen/TensorUtils.h", "ATen/core/op_registration/op_registration.h", "torch/library.h", "torch/version.h", "ATen/Dispatch_v2.h", "ATen/TensorIterator.h", "ATen/DeviceAccelerator.h",
           "c10/util/Logging.h", "c10/util/irange.h", "c10/util/tempfile.h", "c10/util/accumulate.h")
TEXT = "".join(f"#include <{header}>\n" for header in HEADERS)

# ---- kinds of parameters

KINDS = [  # the first that matches decides
    (r"(ArrayRef|vector|List|ITensorListRef|initializer_list)<.*Tensor>|TensorList|ITensorListRef|variable_list", "Tensors"),
    (r"TensorIndex", "indices"),
    (r"ArrayRef<(double|float)>|vector<double>", "floats"),
    (r"IntArrayRef|SymIntArrayRef|ArrayRef<(int64_t|long|SymInt)>|vector<int64_t>|initializer_list<(int64_t|long)>|Dims\b|ExpandingArray|IntList", "ints"),
    (r"ArrayRef<bool>|array<bool", "bools"),
    (r"TensorOptions", "options"),
    (r"\bTensor(Base)?\b|\bVariable\b", "Tensor"),
    (r"\bScalar\b", "Scalar"),
    (r"ScalarType|TypeMeta|Dtype", "dtype"),
    (r"MemoryFormat", "format"),
    (r"Layout", "layout"),
    (r"\bDevice(Type|Index)?\b", "device"),
    (r"Generator", "generator"),
    (r"Dimname", "names"),
    (r"string|char", "text"),
    (r"\bbool\b", "bool"),
    (r"\b(double|float)\b", "float"),
    (r"\b(u?int\d*(_t)?|long|SymInt|size_t|unsigned|short)\b", "int"),
]
# What a parameter of a kind takes beside its own.
TAKES = {"Scalar": {"int", "float", "bool"}, "ints": {"int", "Tensors"}, "float": {"int"}, "options": {"dtype", "device", "layout"},
         "Tensors": {"ints"}}


def kind_of(type_text):
    for pattern, kind in KINDS:
        if re.search(pattern, type_text):
            return kind
    return "other"


class Function:
    """An overload: the kinds of its parameters, and how many of them a call must give."""

    def __init__(self, kinds, required):
        self.kinds, self.required = kinds, required

    def takes(self, kinds):
        return self.required <= len(kinds) <= len(self.kinds) and all(
            ours == theirs or "other" in (ours, theirs) or theirs in TAKES.get(ours, ()) for ours, theirs in zip(self.kinds, kinds))

    def calls(self):
        """The calls with all arguments and with those without a default."""
        return {tuple(self.kinds), tuple(self.kinds[:self.required])}


class Surface:
    def __init__(self):
        self.macros, self.names, self.classes = set(), set(), set()
        self.members = {}    # class -> names
        self.functions = {}  # name, also Class::name -> overloads
        self.open = set()    # functions with an overload that is a template: it may take anything


def differences(theirs, ours):
    """The lines for what `theirs` has and `ours` lacks."""
    out = {f"macro {name}" for name in theirs.macros - ours.macros} | {f"name {name}" for name in theirs.names - ours.names}
    for cls, members in theirs.members.items():
        if cls in ours.members:
            out |= {f"member {cls}::{member}" for member in members - ours.members[cls]}
    for name, overloads in theirs.functions.items():
        if name not in ours.functions or name in ours.open:
            continue
        for kinds in {call for f in overloads for call in f.calls()}:
            if not any(f.takes(kinds) for f in ours.functions[name]):
                out.add(f"call {name}({', '.join(kinds)})")
    return out


# ---- reading headers


class Reader:
    def __init__(self, clang, flags, folders):
        self.clang, self.kind = clang, clang.CursorKind
        options = clang.TranslationUnit.PARSE_SKIP_FUNCTION_BODIES | clang.TranslationUnit.PARSE_DETAILED_PROCESSING_RECORD
        self.unit = clang.Index.create().parse("surface.cpp", flags, unsaved_files=[("surface.cpp", TEXT)], options=options)
        errors = [d.spelling for d in self.unit.diagnostics if d.severity >= clang.Diagnostic.Error]
        if errors:
            sys.exit(f"the headers do not parse: {errors[0]}")
        self.folders = [str(folder) for folder in folders]
        self.surface, self.bodies = Surface(), {}
        self.walk(self.unit.cursor, ())
        for name, cursor in self.bodies.items():
            self.surface.members[name] = self.members_of(cursor, name, set())

    def walk(self, cursor, path):
        K = self.kind
        for child in cursor.get_children():
            if child.kind == K.NAMESPACE or child.kind == K.LINKAGE_SPEC:
                if path or child.spelling in ROOTS or child.kind == K.LINKAGE_SPEC:
                    self.walk(child, path + ((child.spelling,) if child.spelling else ()))
            elif child.kind == K.MACRO_DEFINITION and child.location.file and any(
                    child.location.file.name.startswith(folder) for folder in self.folders):
                self.surface.macros.add(child.spelling)
            elif path and child.spelling and "<" not in child.spelling and self.stands_here(child):
                self.declaration(child, "::".join((*path[1:], child.spelling)))

    def stands_here(self, cursor):
        """Not the definition of a class's member outside of it."""
        K, parent = self.kind, cursor.semantic_parent
        return cursor.kind not in (K.USING_DIRECTIVE, K.STATIC_ASSERT, K.FRIEND_DECL) and (
            parent is None or parent.kind not in (K.CLASS_DECL, K.STRUCT_DECL, K.CLASS_TEMPLATE, K.CLASS_TEMPLATE_PARTIAL_SPECIALIZATION))

    def declaration(self, cursor, name):
        K, s = self.kind, self.surface
        s.names.add(name)
        if cursor.kind in (K.CLASS_DECL, K.STRUCT_DECL, K.CLASS_TEMPLATE) and cursor.is_definition():
            self.bodies[name] = cursor
        elif cursor.kind in (K.TYPEDEF_DECL, K.TYPE_ALIAS_DECL):
            declared = cursor.underlying_typedef_type.get_canonical().get_declaration()
            if declared.kind in (K.CLASS_DECL, K.STRUCT_DECL) and declared.is_definition():
                self.bodies.setdefault(name, declared)
        elif cursor.kind == K.FUNCTION_DECL:
            s.functions.setdefault(name, []).append(self.function(cursor))
        elif cursor.kind == K.FUNCTION_TEMPLATE:
            s.functions.setdefault(name, [])
            s.open.add(name)
        elif cursor.kind == K.ENUM_DECL:
            scope = name if cursor.is_scoped_enum() else name.rpartition("::")[0]
            for constant in cursor.get_children():
                s.names.add(f"{scope}::{constant.spelling}" if scope else constant.spelling)

    def function(self, cursor):
        parameters = [c for c in cursor.get_children() if c.kind == self.kind.PARM_DECL]
        optional = sum(1 for p in parameters if any(t.spelling == "=" for t in p.get_tokens()))
        return Function([kind_of(p.type.spelling) for p in parameters], len(parameters) - optional)

    def members_of(self, cls, name, seen):
        K, found = self.kind, set()
        for child in cls.get_children():
            if child.kind == K.CXX_BASE_SPECIFIER:
                base = child.type.get_declaration()
                template = self.clang.conf.lib.clang_getSpecializedCursorTemplate(base)
                base = (template if template and template.kind == K.CLASS_TEMPLATE else base).get_definition() or base
                if base.hash not in seen:
                    found |= self.members_of(base, name, seen | {base.hash})
            elif child.access_specifier == self.clang.AccessSpecifier.PUBLIC and child.spelling and child.kind not in (
                    K.CONSTRUCTOR, K.DESTRUCTOR, K.FRIEND_DECL):
                if child.spelling != cls.spelling and "<" not in child.spelling:
                    found.add(child.spelling)
                whole = f"{name}::{child.spelling}"
                if child.kind == K.CXX_METHOD:
                    self.surface.functions.setdefault(whole, []).append(self.function(child))
                elif child.kind == K.FUNCTION_TEMPLATE:
                    self.surface.functions.setdefault(whole, [])
                    self.surface.open.add(whole)
        return found


# Outputs of ops by at::NAME_outf(..., out), and by symbolic sizes: all of one kind, so one line each.
GENERATED = re.compile(r"(?:call|name|member) (?:\w+::)*\w+_(outf|symint)(\(.*)?$")


def headers_of(folders):
    """Public headers by the place that a program includes them from."""
    found = set()
    for folder in folders:
        for top in ("torch", "ATen", "c10"):
            for path in (folder / top).rglob("*.h"):
                place = path.relative_to(folder).as_posix()
                if not place.startswith(("torch/csrc/", "torch/include/", "torch/headeronly/", "ATen/ops/")):
                    found.add(place)
    return found


def ops_of(folders):
    return {p.name for folder in folders for p in (folder / "ATen/ops").glob("*.h") if not re.search(r"_(native|ops|meta|dispatch|compositeexplicitautograd\w*|compositeimplicitautograd\w*|cpu|cuda|meta_dispatch)\.h$", p.name)}


# ---- the comparison


def self_test():
    theirs, ours = Surface(), Surface()
    theirs.macros, ours.macros = {"A", "B"}, {"A", "C"}
    theirs.names, ours.names = {"f", "g", "K"}, {"f", "K", "h"}
    theirs.members, ours.members = {"K": {"a", "b"}, "L": {"c"}}, {"K": {"a"}}
    theirs.functions = {"f": [Function(["Tensor", "Tensor"], 1), Function(["Tensor", "Scalar"], 2)], "g": [Function([], 0)],
                        "K::a": [Function(["int"], 0)], "t": [Function(["text"], 1)]}
    ours.functions = {"f": [Function(["Tensor", "Scalar"], 2)], "K::a": [Function(["Scalar"], 0)], "t": []}
    ours.open = {"t"}
    found = differences(theirs, ours)
    expected = {"macro B", "name g", "member K::b", "call f(Tensor)", "call f(Tensor, Tensor)"}
    assert found == expected, found ^ expected
    for text, kind in (("const at::Tensor &", "Tensor"), ("at::TensorList", "Tensors"), ("c10::SymIntArrayRef", "ints"),
                       ("const std::optional<at::Scalar> &", "Scalar"), ("std::optional<at::ScalarType>", "dtype"), ("int64_t", "int")):
        assert kind_of(text) == kind, (text, kind_of(text))
    Known(KNOWN, fields=2)
    print("surface.py: the self-test passes")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", default=ROOT / "build/release", type=pathlib.Path)
    parser.add_argument("--pytorch", type=pathlib.Path, help="PyTorch's folder include; that of the Python that runs this by default")
    parser.add_argument("--all", action="store_true", help="print what differs, whether it is known or not")
    parser.add_argument("--self-test", action="store_true")
    options = parser.parse_args()
    if options.self_test:
        return self_test()
    if not options.pytorch:
        spec = importlib.util.find_spec("torch")
        options.pytorch = spec and spec.origin and pathlib.Path(spec.origin).parent / "include"
    try:
        import clang.cindex as clang
    except ImportError:
        clang = None
    if not clang or not options.pytorch or not (options.pytorch / "ATen").is_dir():
        print(f"skipped: the comparison with LibTorch's headers needs {'PyTorch' if clang else 'libclang (pip install libclang)'}")
        sys.exit(77)
    builtin = subprocess.run(["clang", "-print-resource-dir"], capture_output=True, text=True).stdout.strip()
    flags = ["-std=c++20", "-xc++", "-w", *(["-resource-dir", builtin] if builtin else [])]
    theirs_at = [options.pytorch, options.pytorch / "torch/csrc/api/include"]
    ours_at = [ROOT / "compat/torch", options.build / "compat/torch/include"]
    others = [ROOT, options.build / "generated"]
    sys.setrecursionlimit(20000)
    theirs = Reader(clang, flags + [f"-I{folder}" for folder in theirs_at], theirs_at).surface
    ours = Reader(clang, flags + [f"-I{folder}" for folder in ours_at + others], ours_at + others).surface
    found = differences(theirs, ours)
    found = {GENERATED.sub(r"name *_\1", line) for line in found}
    found |= {f"header {place}" for place in headers_of(theirs_at) - headers_of(ours_at)}
    found |= {f"header ATen/ops/{name}" for name in ops_of(theirs_at[:1]) - ops_of(ours_at)}
    if options.all:
        print("\n".join(sorted(found)))
        return
    wrong = Known(KNOWN, fields=2).wrong(found)
    print("\n".join([*wrong, f"{len(theirs.names)} names, {len(theirs.functions)} functions and methods, {len(theirs.macros)} macros of LibTorch; "
                     f"{len(found)} lines differ, {len(wrong)} of them are not as listed"]))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
