"""What the Python files of the package define and import, what its tables add to that, and the types that are certain."""
import ast
import importlib.util
import re

KINDS = {bool: "builtins.bool", int: "builtins.int", float: "builtins.float", str: "builtins.str", bytes: "builtins.bytes",
         complex: "builtins.complex"}
PLAIN_CALLS = {"isinstance": "bool", "issubclass": "bool", "hasattr": "bool", "callable": "bool", "bool": "bool", "any": "bool", "all": "bool",
               "len": "int", "int": "int", "id": "int", "float": "float", "str": "str", "repr": "str"}


def literal(node):
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError):
        return None


def results_of(stub):
    """{name: type} of the functions of a stub all of whose overloads return the same."""
    found = {}
    for node in stub.body:
        if isinstance(node, ast.FunctionDef):
            found.setdefault(node.name, set()).add(ast.unparse(node.returns))
    return {name: kinds.pop() for name, kinds in found.items() if len(kinds) == 1}


def _of_surface(folder, name):
    """A file of _surface of the package in a folder; those that are asked for use nothing of the package."""
    spec = importlib.util.spec_from_file_location(f"argand.{name}", folder / "_surface" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def tables_of(folder):
    """{PyTorch's module: Section} of the tables of names of the package in a folder: see _surface/table.py there."""
    return _of_surface(folder, "table").everything()


class Package:
    """The modules of a package, by their dotted names below it ("" is the package itself)."""

    def __init__(self, folder, extension, make):
        self.folder, self.modules, self.naming = folder, {}, _of_surface(folder, "naming")
        self.tables = {self.naming.below(self.naming.full(name)): section for name, section in tables_of(folder).items()}
        self.extension = ast.parse(extension)
        self.operators = results_of(self.extension)
        self.surface = {"_C": sorted(self.names_of_stub(self.extension))}
        for path in sorted(folder.rglob("*.py")):
            parts = list(path.relative_to(folder).with_suffix("").parts)
            is_package = parts[-1] == "__init__"
            name = ".".join(parts[:-1] if is_package else parts)
            self.modules[name] = make(self, name, is_package, ast.parse(path.read_text()))
        for name, section in self.tables.items():  # modules that have no file
            if name not in self.modules and section.absent is None:
                source = f"argand.{section.shown}".rstrip(".")
                text = "" if section.shown is None else f"from {source} import *"
                self.modules[name] = make(self, name, True, ast.parse(text))
        parents = {name.rpartition(".")[0] for name in self.modules}
        for name, module in self.modules.items():
            module.is_moved = name in parents and not module.is_package

    @staticmethod
    def names_of_stub(tree):
        for node in tree.body:
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                yield node.name
            elif isinstance(node, ast.AnnAssign):
                yield node.target.id
            elif isinstance(node, ast.Assign):
                yield node.targets[0].id

    def exported(self, name):
        """The names that `from name import *` gives."""
        if name == "_C":
            return [n for n in self.surface["_C"] if not n.startswith("_")]
        module = self.modules.get(name)
        return module.star_names() if module else []


class Module:
    def __init__(self, package, name, is_package, tree):
        self.package, self.name, self.is_package, self.tree = package, name, is_package, tree
        self.known = {}       # name -> "class", "function", "module" or "value", as far as the module's text tells
        self.shown = None
        self.asked = set()    # functions whose results are being found
        self.nested = []      # statements of the top level, without those that are tests
        self.of_extension = {}  # what by_prefix() finds and no statement defines
        self.is_moved = False  # whether its stub is that of a folder, since modules that have no file stand below it
        self.collect(tree.body)

    # ---- what there is

    def collect(self, body):
        for node in body:
            if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
                self.nested += node.body
            elif isinstance(node, ast.If):
                self.collect(node.body)
            elif isinstance(node, ast.Try):
                self.collect(node.body)
            else:
                self.nested.append(node)

    def resolved(self, node):
        """The name below the package of the module that a relative import is from; None for another package's."""
        if not node.level:
            first, _, rest = (node.module or "").partition(".")
            return rest if first == "argand" else None
        parts = self.name.split(".") if self.name else []
        drop = node.level - 1 if self.is_package else node.level
        parts = parts[:len(parts) - drop] if drop else parts
        return ".".join(parts + ([node.module] if node.module else []))

    def star_names(self):
        names = self.all_names()
        listed = self.listed()
        return [n for n in names if n in listed] if listed is not None else [n for n in names if not n.startswith("_")]

    def listed(self):
        """The value of __all__, also where it is put together."""
        found = None
        for node in self.nested:
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target if isinstance(node, ast.AugAssign) else None
            if not (isinstance(target, ast.Name) and target.id == "__all__"):
                continue
            value = literal(node.value)
            if value is None:
                if "isinstance(_value, type)" in ast.unparse(node.value):  # the classes that the module shows
                    value = [n for n, kind in self.definitions().items() if kind == "class"]
                elif isinstance(node.value, ast.List):
                    value = []
                    for part in node.value.elts:
                        if isinstance(part, ast.Starred) and isinstance(part.value, ast.Attribute):
                            value += self.package.exported(self.definition_module(part.value.value.id))
                        else:
                            value.append(literal(part))
                else:
                    continue
            found = [*(found or []), *value]
        return found

    def definition_module(self, name):
        for node in self.nested:
            if isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    if (alias.asname or alias.name) == name:
                        return ".".join(filter(None, (self.resolved(node), alias.name)))
        return ""

    def definitions(self):
        """{name: kind} of what the module's text defines or imports, and what it loads at first use."""
        if self.known:
            return self.known
        found = self.known
        for node in self.nested:
            if isinstance(node, ast.ClassDef):
                found[node.name] = "class"
            elif isinstance(node, ast.FunctionDef):
                found[node.name] = "function"
            elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                found[node.target.id] = "value"
            elif isinstance(node, ast.Assign):
                for target in node.targets:
                    for name in target.elts if isinstance(target, ast.Tuple) else [target]:
                        if isinstance(name, ast.Name):
                            found[name.id] = "value"
            elif isinstance(node, ast.Import):
                for alias in node.names:
                    found[alias.asname or alias.name.partition(".")[0]] = "module"
            elif isinstance(node, ast.ImportFrom) and node.names[0].name != "*":
                source = self.resolved(node)
                for alias in node.names:
                    name = alias.asname or alias.name
                    inner = ".".join(filter(None, (source, alias.name)))
                    capital = alias.name.lstrip("_")[:1].isupper() and not alias.name.isupper()
                    of = self.package.modules.get(source) if source is not None else None
                    if source is not None and (inner in self.package.modules or inner == "_C"):
                        found[name] = "module"
                    elif of is not None and of is not self:
                        found[name] = of.definitions().get(alias.name, "class" if capital else "function")
                    else:
                        found[name] = "class" if capital else "function"
        for name, (kind, _, _) in self.later().items():
            found.setdefault(name, kind)
        self.of_extension = {name: operator for name, operator in self.by_prefix().items() if name not in found}
        for name in self.of_extension:
            found[name] = "class" if name.lstrip("_")[:1].isupper() else "function"
        for name in self.by_suffix():
            found.setdefault(name, "class")
        for name in self.loaded():
            found.setdefault(name, "module")
        found.pop("TYPE_CHECKING", None)
        return found

    def imported_here(self, name):
        """Whether a name is another package's, and for the module's own use."""
        if name in self.passed_on():
            return False
        return any(isinstance(node, (ast.Import, ast.ImportFrom)) and any((a.asname or a.name.partition(".")[0]) == name for a in node.names)
                   and not (isinstance(node, ast.ImportFrom) and self.resolved(node) is not None) for node in self.nested)

    def passed_on(self):
        """What a module imports from other packages and does not use itself: it shows them, as argand.pi."""
        if self.shown is None:
            used = {n.id for n in ast.walk(self.tree) if isinstance(n, ast.Name)}
            self.shown = {a.asname or a.name for n in self.nested if isinstance(n, ast.ImportFrom) and self.resolved(n) is None
                          and n.module != "__future__" for a in n.names if (a.asname or a.name) not in used}
        return self.shown

    def all_names(self):
        """The names of the stub, those of `import *` among them; what other packages' modules are imported as is not shown."""
        names = dict.fromkeys(n for n in self.definitions() if not self.imported_here(n) and n not in ("__all__", "__getattr__", "__dir__"))
        for node in self.nested:
            if isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
                names.update(dict.fromkeys(self.given_by(node)))
        return list(names)

    def later(self):
        """{name: (kind, where, detail)} of the names that the tables add to the module.

        The kinds "class" and "function" are refused, or ignored, with the reason and the base class; "later" is loaded
        from a module, by its name there (".": the module itself); "value" is computed.
        """
        section, found = self.package.tables.get(self.name), {}
        if section is None:
            return found
        for name, entry in section.names.items():
            if entry.kind in ("late", "own"):
                found[name] = "later", entry.text, entry.detail
            elif entry.kind == "computed":
                found[name] = "value", None, ""
            elif entry.kind not in ("absent", "extra"):
                found[name] = "class" if name.lstrip("_")[:1].isupper() else "function", entry, entry.detail
        found = {name: what for name, what in found.items() if "." not in name}
        for name in self.package.exported(section.all_of) if section.all_of else ():
            found.setdefault(name, ("later", section.all_of, ""))
        return found

    def loaded(self):
        """The modules of a package that it imports something from: they are its attributes, too."""
        if not self.is_package:
            return []
        found = {}
        for node in self.nested:
            source = self.resolved(node) if isinstance(node, ast.ImportFrom) else None
            prefix = self.name + "." if self.name else ""
            if source and source.startswith(prefix) and source != self.name:
                name = source[len(prefix):].partition(".")[0]
                if prefix + name in self.package.modules:
                    found[name] = None
        # F.dropout is the function, though the module that defines it has the same name.
        hidden = {n for node in self.nested if isinstance(node, ast.ImportFrom) and node.names[0].name == "*"
                  for n in self.given_by(node)}
        return [name for name in found if name not in hidden]

    def given_by(self, star):
        """The names that `from x import *` gives; none that are known if x is another package's."""
        source = self.resolved(star)
        return [] if source is None else self.package.exported(source)

    def starred(self):
        """[(statement, names that it gives)] of `from x import *`, without the names that later statements define."""
        found, later = [], set(self.definitions())
        for node in reversed(self.nested):
            if isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
                names = self.given_by(node)
                found.insert(0, (node, [n for n in names if n not in later], bool(later.intersection(names))))
                later.update(names)
        return found

    def by_suffix(self):
        """The classes of tensors by dtype that a module has: `globals().update({... in TENSOR_CLASSES.items()})`, of _dtypes.py."""
        if not any(isinstance(node, ast.Expr) and re.search(r"globals\(\)\.update\(.*TENSOR_CLASSES", ast.unparse(node)) for node in self.nested):
            return []
        facts = next(node.value for node in self.package.modules["_dtypes"].nested
                     if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "FACTS")
        return [literal(value.args[0]) + "Tensor" for key, value in zip(facts.keys, facts.values) if "complex" not in ast.unparse(key)]

    def by_prefix(self):
        """{name: operator} where the module shows the operators whose names have a prefix: linalg_svd as svd; or all of argand._C."""
        for node in self.nested:
            text = ast.unparse(node) if isinstance(node, ast.Expr) else ""
            if re.match(r"globals\(\)\.update\(.*vars\(_C\)\.items\(\) if not \w+\.startswith\('__'\)", text):
                return {n: n for n in self.package.surface["_C"]}
            m = re.search(r"globals\(\)\.update\(.*startswith\('(\w+_)'\)", text)
            if m:
                return {n.removeprefix(m[1]): n for n in self.package.surface["_C"] if n.startswith(m[1])}
        return {}

    # ---- types

    def type_of(self, node, owner=None):
        """The type of a value, or None if it is not certain."""
        if isinstance(node, ast.Constant):
            return "None" if node.value is None else KINDS.get(type(node.value))
        if isinstance(node, ast.JoinedStr):
            return "builtins.str"
        if isinstance(node, (ast.List, ast.ListComp)):
            return "builtins.list[Any]"
        if isinstance(node, (ast.Dict, ast.DictComp)):
            return "builtins.dict[Any, Any]"
        if isinstance(node, (ast.Set, ast.SetComp)):
            return "builtins.set[Any]"
        if isinstance(node, ast.Compare) and all(isinstance(op, (ast.Is, ast.IsNot, ast.In, ast.NotIn)) for op in node.ops):
            return "builtins.bool"
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return "builtins.bool"
        if isinstance(node, ast.IfExp):
            kinds = {self.type_of(node.body, owner), self.type_of(node.orelse, owner)}
            return kinds.pop() if len(kinds) == 1 else None
        if isinstance(node, ast.Name) and node.id == "self" and owner:
            return "Self"
        if isinstance(node, ast.Call):
            name = ast.unparse(node.func)
            if name.startswith("self.") and owner:
                return self.result_of_method(owner, name[5:])
            if name in PLAIN_CALLS and name not in self.definitions():
                return "builtins." + PLAIN_CALLS[name]
            if self.is_class(node.func):
                return name
            if name.startswith("_C.") and self.package.operators.get(name[3:]) in ("Tensor", "builtins.int", "builtins.bool"):
                kind = self.package.operators[name[3:]]
                return "_C.Tensor" if kind == "Tensor" else kind
            return self.result_of_function(node.func)
        return None

    def result_of_method(self, owner, name):
        """What a method of the same class returns."""
        method = next((n for n in self.classes().get(owner, ()) if isinstance(n, ast.FunctionDef) and n.name == name), None)
        if method is None or method.decorator_list or (owner, name) in self.asked:
            return None
        self.asked.add((owner, name))  # it may call itself
        found = ast.unparse(method.returns) if method.returns else self.returned(method, owner)
        self.asked.discard((owner, name))
        return found

    def classes(self):
        return {n.name: n.body for n in self.nested if isinstance(n, ast.ClassDef)}

    def result_of_function(self, called):
        """What a function of the package returns, if that is a type which every module knows."""
        name, module = ast.unparse(called), self
        if isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name):  # F.linear
            name = called.attr
            module = self.package.modules.get(self.definition_module(called.value.id))
        found = module.function_named(name) if module else None
        if found is None or ("", name) in found[0].asked:
            return None
        module, function = found
        module.asked.add(("", name))
        kind = ast.unparse(function.returns) if function.returns else module.returned(function, None)
        module.asked.discard(("", name))
        return kind if kind and re.fullmatch(r"builtins\.\w+|_C\.Tensor|None", kind) else {"bool": "builtins.bool", "int": "builtins.int"}.get(kind)

    def function_named(self, name, depth=0):
        """(module, function) of a name that the module defines or imports; None if it is no plain function of the package."""
        for node in self.nested:
            if isinstance(node, ast.FunctionDef) and node.name == name:
                decorators = {ast.unparse(d).partition("(")[0] for d in node.decorator_list}
                return (self, node) if decorators <= {"harmless", "ignored", "staticmethod", "torch_function_dispatch", "overridable"} else None
            if isinstance(node, ast.ImportFrom) and depth < 5 and self.resolved(node) in self.package.modules:
                source = self.package.modules[self.resolved(node)]
                for alias in node.names:
                    if alias.name == "*" and (found := source.function_named(name, depth + 1)):
                        return found
                    if (alias.asname or alias.name) == name:
                        return source.function_named(alias.name, depth + 1)
        return None

    def is_class(self, node):
        if isinstance(node, ast.Name):
            return self.definitions().get(node.id) == "class"
        return ast.unparse(node) == "_C.Tensor"

    def returned(self, function, owner):
        """The type that all return statements agree on; None if that is not certain."""
        values, yields, statements = [], False, [n for n in function.body if not isinstance(n, (ast.Pass, ast.Raise))
                                                 and not (isinstance(n, ast.Expr) and isinstance(n.value, ast.Constant))]
        stack = list(function.body)
        while stack:
            node = stack.pop()
            if isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.Lambda, ast.AsyncFunctionDef)):
                continue
            yields |= isinstance(node, (ast.Yield, ast.YieldFrom))
            if isinstance(node, ast.Return):
                values.append(node.value)
            stack += ast.iter_child_nodes(node)
        if yields:
            return "Iterator[Any]"
        if not values:
            return "None" if statements else None
        kinds = {self.type_of(v, owner) if v is not None else "None" for v in values}
        return kinds.pop() if len(kinds) == 1 and kinds != {"None"} else None
