"""Settings of the Python package: what a getter says is what holds."""
import ast

from uses import Uses, declared, name_of, refuses, statements


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
        honest = refuses(statements(f)) or declared(f, module) or any(
            text in ast.unparse(f) for text in ("raise NotImplementedError", "warn_ignored("))
        if not getters_of(f.name) or honest:
            continue
        for getter in sorted(getters_of(f.name) & by_name.keys()):
            if isinstance(returned(by_name[getter]), ast.Constant):
                found.append(f"{place}: {getter}() has one answer, whatever is set: honour it, refuse it, or declare it by @ignored")
        for variable in sorted({x for s in ast.walk(f) if isinstance(s, ast.Global) for x in s.names} - read_elsewhere):
            readers = [g for g in functions if g is not f and variable in Uses(statements(g)).read]
            if readers and all(name_of(returned(g)) == variable for g in readers):
                found.append(f"{place}: {variable} is read by {readers[0].name}() alone: declare it by @harmless or @ignored")
    return found


def is_enum(cls):
    return any("Enum" in name_of(base) for base in cls.bases)


def switch_findings(module):
    """Modules whose attributes are settings, as torch.backends: one that is a plain value can be set, and nobody reads it."""
    found = []
    for holder in [module.tree, *(c for c in module.tree.body if isinstance(c, ast.ClassDef) and not is_enum(c))]:
        for node in holder.body:
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant):
                found += [f"{module.path}:{node.lineno}: {t.id} is a setting that nobody reads: make it one of _switches" for t in node.targets
                          if isinstance(t, ast.Name) and not t.id.startswith("_")]
    return found
