"""No argument is accepted and silently ignored: each parameter of the Python package is used or declared.

A function uses a parameter when it reads it.  It does not count as a use to reject invalid values, to store the value where nobody reads
it, to drop it, or to pass it to a function of the package that does nothing with it, or to the function itself; to refuse all values but
one does count.  A parameter that is not used is declared with the reason, `@ignored(name="why")` or `@harmless(name="why")`
(python/argand/_ignored.py).  For private functions, nested functions and methods that a base class has, only parameters with defaults
are checked: the caller determines the others.
"""
import ast
import re

import cpp_options
import cpp_parameters
import paths as paths_of
import settings
from uses import (LEAST_REASON, Module, Package, Uses, declared, has_decorator, is_exception, is_kept, name_of, parameters, refuses,
                  statements)

PACKAGE = "python/argand/"
SWITCHES = tuple(PACKAGE + module for module in ("backends/", "nn/attention/", "utils/deterministic"))  # their attributes are settings
# What Python, NumPy and __torch_function__ give to a method whether it needs it or not.
PROTOCOLS = {"__exit__", "__get__", "__set_name__", "__deepcopy__", "__reduce_ex__", "__torch_function__", "__torch_dispatch__",
             "__array_wrap__", "find_spec", "create_module", "exec_module"}


class Look(ast.NodeVisitor):
    """The findings in one module."""

    def __init__(self, module, package):
        self.module, self.package, self.found, self.holders = module, package, [], []
        self.visit(module.tree)

    def visit_ClassDef(self, node):
        self.holders.append(node)
        self.generic_visit(node)
        self.holders.pop()

    def visit_FunctionDef(self, node):
        self.function(node)
        self.holders.append(node)
        self.generic_visit(node)
        self.holders.pop()

    visit_AsyncFunctionDef = visit_FunctionDef

    def function(self, node):
        cls = self.holders[-1] if self.holders and isinstance(self.holders[-1], ast.ClassDef) else None
        place = f"{self.module.path}:{node.lineno}: " + ".".join([h.name for h in self.holders] + [node.name]) + "()"
        reasons = declared(node, self.module)
        all_parameters = parameters(node)
        for name, (kind, good) in reasons.items():
            if name not in dict(all_parameters):
                self.found.append(f"{place}: @{kind} names {name}, which is no parameter")
            elif node.args.kwarg is not None and name == node.args.kwarg.arg and node.args.vararg is None:  # with *args it stands for others
                self.found.append(f"{place}: @{kind}({name}=...) would take any misspelled keyword: name those that there are")
            elif not good:
                self.found.append(f"{place}: @{kind}({name}=...) needs a reason, a sentence that a reader can judge")
        body = statements(node)
        if node.name in PROTOCOLS or refuses(body) or has_decorator(node, "overload", "abstractmethod"):
            return
        if (cls is not None and not has_decorator(node, "staticmethod")) or has_decorator(node, "method"):
            all_parameters = all_parameters[1:]
        uses = Uses(body, lambda callee, where: self.package.drops(self.module, node, callee, where))
        if node.name.startswith(("check_", "_check", "assert_")):  # what is said of a value is what the function is for
            uses.read |= {name for name, _ in all_parameters if any(isinstance(n, ast.Name) and n.id == name for n in ast.walk(node))}
        if "*" not in uses.read:
            for name, optional in all_parameters:
                self.parameter(node, cls, place, uses, reasons, name, optional)

    def parameter(self, node, cls, place, uses, reasons, name, optional):
        used = name in uses.read or bool(uses.stored.get(name, set()) & self.package.attributes)
        if name in reasons:
            if used and not is_kept(node, name):
                self.found.append(f"{place}: {name} is declared by @{reasons[name][0]} and used")
            return
        is_private = node.name.startswith("_") and not node.name.startswith("__")
        is_inner = any(isinstance(h, (ast.FunctionDef, ast.AsyncFunctionDef)) for h in self.holders)
        given = is_private or is_inner or (cls is not None and self.package.inherits(cls, node.name))
        if used or (given and (not optional or name == "_" or name.startswith("__"))) or self.is_of_the_pair(node, cls, name):
            return
        if name in uses.stored and (is_exception(cls) or any(name_of(d) == "record" for d in cls.decorator_list)):
            return
        what = "stored and read by nobody" if name in uses.stored else "not used"
        self.found.append(f"{place}: parameter {name} is {what}: honour it, refuse it, or declare it by @ignored({name}=\"why\")")

    @staticmethod
    def is_of_the_pair(node, cls, name):
        """__new__ and __init__ take the same: what one of them uses, the other need not."""
        other = {"__new__": "__init__", "__init__": "__new__"}.get(node.name)
        pair = next((f for f in cls.body if isinstance(f, ast.FunctionDef) and f.name == other), None) if cls and other else None
        if pair is None:
            return False
        stars = [a.arg for a in (node.args.vararg, node.args.kwarg) if a]
        return name in stars or (name in dict(parameters(pair)) and name in Uses(statements(pair)).read)


# ---- ops: an option of a schema is read by the op's file, or declared there: // harmless(sorted): they always are

SCHEMA = re.compile(r'schema\s*=\s*((?:"[^"]*"\s*)+);')
TEXTS = re.compile(r'(?:schema|overloads\[\]|doc)\s*=\s*\{?(?:\s*"(?:[^"\\]|\\.)*"\s*,?)+\}?;')
DECLARED = re.compile(r"// harmless\((\w+)\): (.+)")
OF_EVERY_OP = {"layout", "pin_memory", "device", "dtype"}  # read where arguments are bound, for all ops that make tensors


def op_findings(path, text):
    found = []
    code = re.sub(r"//.*", "", TEXTS.sub("", text))
    harmless = dict(DECLARED.findall(text))
    for schema in SCHEMA.findall(text):
        schema = "".join(re.findall(r'"([^"]*)"', schema))
        for name in re.findall(r"(\w+)=[^,]*?(?:,|\)\s*->)", schema):
            if not re.search(rf"\b{name}\b", code) and name not in OF_EVERY_OP and len(harmless.get(name, "")) < LEAST_REASON:
                op = schema.partition("(")[0]
                found.append(f"{path}: {op}: {name} is not used: honour it, warn_ignored(), or say `// harmless({name}): why`")
    return found


def findings(tree):
    paths = tree.all_files(".py", under=(PACKAGE,))
    modules = [Module(path, tree.text(path)) for path in paths]
    for module in modules:
        module.find_imported(modules)
    package = Package(modules)
    chosen = set(tree.files(".py", under=(PACKAGE,)))
    found = [line for module in modules if module.path in chosen for line in Look(module, package).found]
    for module in modules:
        if module.path in chosen:
            found += settings.setting_findings(module, package.attributes)
            found += paths_of.findings(module, tree.text(module.path))
            found += settings.switch_findings(module) if module.path.startswith(SWITCHES) else []
    found += cpp_options.findings(tree) + cpp_parameters.findings(tree)
    return found + [line for path in tree.files(".cpp", under=("argand/ops/",)) for line in op_findings(path, tree.text(path))]
