"""What functions of a Python package take, use and declare, by their syntax: for the checks of options and settings."""
import ast
import functools

DECLARATIONS = ("ignored", "harmless")
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
        self.texts, self.imported = texts_of(self.tree), set()

    def names_function(self, name):
        """Whether the name is a function of the module, or one that it takes from another of the package."""
        return any((isinstance(node, ast.FunctionDef) and node.name == name) or (
            isinstance(node, ast.ImportFrom) and node.level and any((a.asname or a.name) == name == a.name for a in node.names))
            for node in self.tree.body)

    def find_imported(self, modules):
        """Texts of other modules that it imports."""
        names = {a.name for node in self.tree.body if isinstance(node, ast.ImportFrom) for a in node.names}
        self.imported = {name for module in modules for name in module.texts & names}


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
    """The names that a body reads; `stored` are those that it only puts into an attribute: {name: attributes}.  To pass a name on is no
    use where drops(function's name, position or keyword) says that the function does nothing with it."""

    def __init__(self, body, drops=lambda function, where: False):
        self.read, self.stored, self.drops = set(), {}, drops
        for statement in body:
            self.visit(statement)

    def visit_Name(self, node):
        if isinstance(node.ctx, ast.Load):
            self.read.add(node.id)

    def visit_Call(self, node):
        if name_of(node.func) in ("locals", "vars") and not node.args:
            self.read.add("*")
        called, args = node.func, node.args
        if name_of(called) == "partial" and args:  # a call that comes later
            self.visit(called)
            called, args = args[0], args[1:]
        function = called.id if isinstance(called, ast.Name) else ""
        stars = any(isinstance(x, ast.Starred) for x in args)
        self.visit(called)
        for where, value in [*enumerate(args), *((k.arg, k.value) for k in node.keywords)]:
            if not (function and where is not None and isinstance(value, ast.Name) and not (stars and isinstance(where, int)) and self.drops(function, where)):
                self.visit(value)

    def visit_Assert(self, node):  # that a value has some type, or is in some list, is said of all that are good
        self.read |= Uses([node.test], self.drops).read - set(map(name_of, checked_values(node.test)))

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
            self.read |= Uses([node.test, *node.body], self.drops).read - checked

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
        inner = Uses(body, self.drops)
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
        self.classes, self.attributes, self.functions = {}, set(), {}
        for module in modules:
            for node in module.tree.body:
                if isinstance(node, ast.FunctionDef):
                    self.functions.setdefault(node.name, []).append((module, node))
            for node in ast.walk(module.tree):
                if isinstance(node, ast.ClassDef):
                    self.classes.setdefault(node.name, []).append(node)
                elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
                    self.attributes.add(node.attr)
                elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                    self.attributes.update(node.value.split())

    def drops(self, module, caller, name, where):
        """Whether the function of that name, called in the module, does nothing with an argument and does not say so.  To call oneself
        is no use."""
        if name in {p for p, _ in parameters(caller)} or not module.names_function(name):
            return False
        found = [(m, f) for m, f in self.functions.get(name, ()) if m is module] or self.functions.get(name, ())
        if len(found) != 1:
            return False
        (home, function), = found
        positional = [a.arg for a in function.args.posonlyargs + function.args.args]
        parameter = where if isinstance(where, str) else positional[where] if where < len(positional) else None
        if parameter not in {p for p, _ in parameters(function)}:
            return False
        if function is caller:
            return True
        if parameter in declared(function, home):
            return False
        uses = Uses(statements(function))
        return "*" not in uses.read and parameter not in uses.read and parameter not in uses.stored

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
    return value.id in module.texts | module.imported if isinstance(value, ast.Name) else is_text(value)


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


def is_exception(cls):
    """Whether a class is an exception, whose attributes are read by the code that catches it."""
    return cls is not None and cls.name.endswith(("Exception", "Error", "Warning"))
