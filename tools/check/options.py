"""No argument is accepted and ignored without a word: each parameter of the Python package is used or declared.

A function uses a parameter when it reads it, other than to say which values are none, to store it where nobody reads it, or to
drop it; to refuse all values but one is a use.  One that it does not use is declared with the reason, `@ignored(name="why")` or
`@harmless(name="why")` (python/argand/_ignored.py).  Of private functions, of those inside others and of methods that a base class has,
only parameters with defaults are asked about: the others belong to the caller.
"""
import ast
import functools
import re

PACKAGE = "python/argand/"
DECLARATIONS = ("ignored", "harmless")
# What Python, NumPy and __torch_function__ give to a method whether it needs it or not.
PROTOCOLS = {"__exit__", "__get__", "__set_name__", "__deepcopy__", "__reduce_ex__", "__torch_function__", "__torch_dispatch__",
             "__array_wrap__", "find_spec"}
LEAST_REASON = 12  # letters: a word is no reason


def texts_of(tree):
    """The names that a module gives to texts."""
    found = set()
    for node in tree.body:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                several = isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple)
                for name, value in zip(target.elts, node.value.elts) if several else [(target, node.value)]:
                    if isinstance(name, ast.Name) and is_text(value):
                        found.add(name.id)
    return found


def is_text(value):
    return isinstance(value, ast.JoinedStr) or (isinstance(value, ast.Constant) and isinstance(value.value, str)
                                                and len(value.value) >= LEAST_REASON)


parsed = functools.lru_cache(maxsize=None)(ast.parse)  # the self-test reads the package over and over


class Module:
    def __init__(self, path, text):
        self.path, self.tree = path, parsed(text)
        self.texts = texts_of(self.tree)


def name_of(node):
    """The last part of a dotted name; "" of anything else."""
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def parameters(function):
    """(name, whether a caller may leave it out) of each."""
    a = function.args
    required = a.posonlyargs + a.args
    optional = required[len(required) - len(a.defaults):] if a.defaults else []
    found = [(p.arg, p in optional) for p in required]
    found += [(a.vararg.arg, True)] if a.vararg else []
    found += [(p.arg, default is not None) for p, default in zip(a.kwonlyargs, a.kw_defaults)]
    return found + ([(a.kwarg.arg, True)] if a.kwarg else [])


def statements(function):
    """The body without its docstring."""
    first = function.body[0]
    is_text = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str)
    return function.body[1:] if is_text else function.body


def refuses(body):
    """Whether the statements end in an error and do nothing else."""
    return bool(body) and isinstance(body[-1], ast.Raise) and all(
        isinstance(s, (ast.Import, ast.ImportFrom, ast.Raise, ast.Assign)) for s in body)


def checked_values(test):
    """The values of which the test asks no more than whether they are of some type or in some list."""
    if isinstance(test, ast.BoolOp):
        return [value for part in test.values for value in checked_values(part)]
    if isinstance(test, ast.UnaryOp):
        return checked_values(test.operand)
    if isinstance(test, ast.Compare) and isinstance(test.ops[0], (ast.In, ast.NotIn)):
        listed = getattr(test.comparators[0], "elts", [])
        several = len([x for x in listed if not (isinstance(x, ast.Constant) and x.value is None)]) != 1
        return [test.left] if several else []
    return test.args[:1] if isinstance(test, ast.Call) and name_of(test.func) == "isinstance" else []


class Uses(ast.NodeVisitor):
    """The names that a body reads; `stored` are those that it only puts into an attribute: {name: attributes}."""

    def __init__(self, body):
        self.read, self.stored = set(), {}
        for statement in body:
            self.visit(statement)

    def visit_Name(self, node):
        if isinstance(node.ctx, ast.Load):
            self.read.add(node.id)

    def visit_Call(self, node):
        if name_of(node.func) in ("locals", "vars") and not node.args:
            self.read.add("*")
        self.generic_visit(node)

    def visit_Expr(self, node):  # a name alone, or several, drops them
        parts = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
        if not all(isinstance(part, ast.Name) for part in parts):
            self.generic_visit(node)

    def visit_Delete(self, node):
        for target in node.targets:
            if not isinstance(target, ast.Name):
                self.visit(target)

    def visit_If(self, node):  # to refuse what is none of the values that there are is no use of the others
        if node.orelse or not (refuses(node.body) or all(isinstance(s, ast.Pass) for s in node.body)):
            self.generic_visit(node)
        else:
            refused = isinstance(node.body[-1], ast.Raise) and "NotImplementedError" in ast.unparse(node.body[-1])
            checked = set() if refused else set(map(name_of, checked_values(node.test)))
            self.read |= Uses([node.test, *node.body]).read - checked

    def visit_Assign(self, node):
        for target in node.targets:
            values = [(target, node.value)]
            if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple) and len(target.elts) == len(node.value.elts):
                values = list(zip(target.elts, node.value.elts))
            for to, value in values:
                if isinstance(value, ast.Name) and name_of(to) == "_":
                    continue
                if isinstance(value, ast.Name) and isinstance(to, ast.Attribute):
                    self.stored.setdefault(value.id, set()).add(to.attr)
                    self.visit(to)
                    continue
                self.visit(to)
                self.visit(value)

    def visit_FunctionDef(self, node):
        self.nested(node, node.body, node.decorator_list)

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Lambda(self, node):
        self.nested(node, [node.body], [])

    def nested(self, node, body, decorators):
        """A function inside: what it calls as its own parameter is another thing."""
        inner = Uses(body)
        own = {name for name, _ in parameters(node)}
        self.read |= inner.read - own
        for name, attributes in inner.stored.items():
            if name not in own:
                self.stored.setdefault(name, set()).update(attributes)
        for part in [*decorators, *node.args.defaults, *filter(None, node.args.kw_defaults)]:
            self.visit(part)


class Package:
    """What is asked of all modules together: the bases of classes, the attributes that somebody reads."""

    def __init__(self, modules):
        self.classes, self.attributes = {}, set()
        for module in modules:
            for node in ast.walk(module.tree):
                if isinstance(node, ast.ClassDef):
                    self.classes.setdefault(node.name, []).append(node)
                elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
                    self.attributes.add(node.attr)
                elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                    self.attributes.update(node.value.split())

    def inherits(self, cls, method, seen=()):
        """Whether a base class has the method: then what it must take is for the base to say."""
        for base in map(name_of, cls.bases):
            for other in self.classes.get(base, ()):
                if other is cls or other in seen:
                    continue
                if any(isinstance(m, ast.FunctionDef) and m.name == method for m in other.body):
                    return True
                if self.inherits(other, method, (*seen, cls)):
                    return True
        return False


def declared(function, module):
    """{name: (declaration, whether it has a reason)} of the decorators."""
    found = {}
    for decorator in function.decorator_list:
        if isinstance(decorator, ast.Call) and name_of(decorator.func) in DECLARATIONS:
            for keyword in decorator.keywords:
                found[keyword.arg] = (name_of(decorator.func), is_reason(keyword.value, module))
    return found


def is_reason(value, module):
    if isinstance(value, ast.Tuple) and value.elts:
        value = value.elts[0]
    return value.id in module.texts if isinstance(value, ast.Name) else is_text(value)


def is_kept(function, name):
    """Whether the body does no more with a parameter than to check it and to keep it as a setting, in a variable of the module."""
    kept = {x for s in ast.walk(function) if isinstance(s, ast.Global) for x in s.names}
    for statement in statements(function):
        is_store = isinstance(statement, ast.Assign) and {name_of(x) for target in statement.targets for x in ast.walk(target)} & kept
        is_check = isinstance(statement, ast.Expr) and "check" in ast.unparse(statement).partition("(")[0]
        if isinstance(statement, ast.For):
            is_check = all(isinstance(s, ast.If) and refuses(s.body) for s in statement.body)
        if isinstance(statement, ast.If):
            is_check = refuses(statement.body) and not statement.orelse
        if not is_store and not is_check and name in Uses([statement]).read:
            return False
    return True


def has_decorator(function, *names):
    return any(name_of(d.func if isinstance(d, ast.Call) else d) in names for d in function.decorator_list)


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
            elif not good:
                self.found.append(f"{place}: @{kind}({name}=...) needs a reason, a sentence that a reader can judge")
        body = statements(node)
        if node.name in PROTOCOLS or refuses(body) or has_decorator(node, "overload", "abstractmethod"):
            return
        if (cls is not None and not has_decorator(node, "staticmethod")) or has_decorator(node, "method"):
            all_parameters = all_parameters[1:]
        uses = Uses(body)
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


def is_exception(cls):
    """Who catches it reads what it holds."""
    return cls is not None and cls.name.endswith(("Exception", "Error", "Warning"))


# ---- settings: what a getter says is what holds


def getters_of(name):
    """The names that the getter of a setter may have."""
    for prefix in ("set_", "enable_", "use_", "allow_"):
        if name.startswith(prefix):
            rest = name.removeprefix(prefix)
            return {f"get_{rest}", f"is_{rest}", f"is_{rest}_enabled", f"are_{rest}_enabled", f"{rest}_enabled", f"{rest}_allowed"}
    return set()


def returned(function):
    """What the body returns, if it does nothing else."""
    body = statements(function)
    return body[0].value if len(body) == 1 and isinstance(body[0], ast.Return) else None


def setting_findings(module, read_elsewhere):
    """Setters whose getter has one answer, and variables that a setter writes and getters alone read."""
    functions = [f for f in module.tree.body if isinstance(f, ast.FunctionDef)]
    by_name = {f.name: f for f in functions}
    found = []
    for f in functions:
        place = f"{module.path}:{f.lineno}: {f.name}()"
        if not getters_of(f.name) or refuses(statements(f)) or declared(f, module):
            continue
        for getter in sorted(getters_of(f.name) & by_name.keys()):
            if isinstance(returned(by_name[getter]), ast.Constant) and "raise NotImplementedError" not in ast.unparse(f):
                found.append(f"{place}: {getter}() has one answer, whatever is set: honour it, refuse it, or declare it by @ignored")
        for variable in sorted({x for s in ast.walk(f) if isinstance(s, ast.Global) for x in s.names} - read_elsewhere):
            readers = [g for g in functions if g is not f and variable in Uses(statements(g)).read]
            if readers and all(name_of(returned(g)) == variable for g in readers):
                found.append(f"{place}: {variable} is read by {readers[0].name}() alone: declare it by @harmless or @ignored")
    return found


def switch_findings(module):
    """torch.backends: an attribute that is a plain value can be set, and nobody reads it."""
    found = []
    for holder in [module.tree, *(c for c in module.tree.body if isinstance(c, ast.ClassDef))]:
        for node in holder.body:
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant):
                found += [f"{module.path}:{node.lineno}: {t.id} is a setting that nobody reads: make it one of _switches" for t in node.targets
                          if isinstance(t, ast.Name) and not t.id.startswith("_")]
    return found


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
    package = Package(modules)
    chosen = set(tree.files(".py", under=(PACKAGE,)))
    found = [line for module in modules if module.path in chosen for line in Look(module, package).found]
    for module in modules:
        if module.path in chosen:
            found += setting_findings(module, package.attributes)
            found += switch_findings(module) if module.path.startswith(PACKAGE + "backends/") else []
    return found + [line for path in tree.files(".cpp", under=("argand/ops/",)) for line in op_findings(path, tree.text(path))]
