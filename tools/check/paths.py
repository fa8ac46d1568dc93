"""Options that a function reads on one path and not on another that computes what it returns."""
import ast
import re

from uses import LEAST_REASON, declared, has_decorator, name_of, parameters, refuses, statements

# On the line that returns, or on the one before: # harmless(norm_type): it is of max_norm
HARMLESS = re.compile(r"# harmless\(([\w, ]+)\): (.+)")


def names(*nodes):
    """The names that are read; `*` where all variables are."""
    found = set()
    for node in nodes:
        if isinstance(node, ast.IfExp):
            computed = [names(x) for x in (node.body, node.orelse) if is_computed(x)] or [names(node.body, node.orelse)]
            found |= names(node.test) | set.intersection(*computed)
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            found.add(node.id)
        elif isinstance(node, ast.Call) and name_of(node.func) in ("locals", "vars"):
            found.add("*")
        if node is not None:
            found |= names(*ast.iter_child_nodes(node))
    return found


def meet(a, b):
    """The names that have been read where two paths meet; None is an unreachable path."""
    return b if a is None else a if b is None else a & b


def is_computed(value):
    """Whether a returned value is more than a constant, a name or an object that is at hand."""
    if value is None or isinstance(value, (ast.Constant, ast.Name, ast.Attribute)):
        return False
    if isinstance(value, ast.Subscript):
        return is_computed(value.value)
    if isinstance(value, (ast.Tuple, ast.List, ast.UnaryOp)):
        return any(is_computed(part) for part in ast.iter_child_nodes(value) if isinstance(part, ast.expr))
    return not (isinstance(value, ast.Call) and not value.args and not value.keywords)


class Paths:
    """The returns of a function, each with the names that every path to it has read.  A loop's body runs, a handler follows an error."""

    def __init__(self, body):
        self.returns = []
        self.block(body, set())

    def block(self, body, read):
        for statement in body:
            if read is None:
                return None
            read = self.step(statement, read)
        return read

    def step(self, s, read):
        if isinstance(s, ast.Return):
            self.returns.append((s, read | names(s.value)))
            return None
        if isinstance(s, ast.Raise):
            return None
        if isinstance(s, ast.If):
            read = read | names(s.test)
            return meet(self.block(s.body, read), self.block(s.orelse, read))
        if isinstance(s, (ast.For, ast.AsyncFor, ast.While)):
            read = read | names(s.test if isinstance(s, ast.While) else s.iter)
            after = self.block(s.body, read)
            return self.block(s.orelse, read if after is None else after)
        if isinstance(s, (ast.With, ast.AsyncWith)):
            return self.block(s.body, read | names(*s.items))
        if isinstance(s, ast.Try):
            after = self.block([*s.body, *s.orelse], read)
            begun = read | (names(s.body[0]) if isinstance(s.body[0], (ast.Expr, ast.Assign, ast.Return)) else set())
            for handler in s.handlers:
                after = meet(after, self.block(handler.body, begun))
            last = self.block(s.finalbody, read if after is None else after)
            return None if after is None else last
        if isinstance(s, ast.Match):
            after = read = read | names(s.subject)
            for case in s.cases:
                after = meet(after, self.block(case.body, read | names(case.guard)))
            return after
        return read | names(s)


def harmless(lines, line):
    """{name: reason} of the comments about a return."""
    return {name.strip(): found.group(2) for text in lines[line - 2:line] if (found := HARMLESS.search(text))
            for name in found.group(1).split(",")}


def findings(module, text):
    """Parameters with defaults, of public functions and methods, on which a computed return value does not depend."""
    lines, found, used = text.splitlines(), [], set()
    for holder in ast.walk(module.tree):
        if not isinstance(holder, (ast.Module, ast.ClassDef)):
            continue
        for f in holder.body:
            private = getattr(f, "name", "_").startswith("_") and not getattr(f, "name", "").startswith("__")
            if not isinstance(f, ast.FunctionDef) or private or refuses(statements(f)) or has_decorator(f, "overload", "abstractmethod"):
                continue
            asked = {name for name, optional in parameters(f) if optional} - set(declared(f, module))
            asked &= {name for statement in statements(f) for name in names_anywhere(statement)}
            for statement, read in Paths(statements(f)).returns:
                if not is_computed(statement.value) or "*" in read:
                    continue
                reasons = harmless(lines, statement.lineno)
                for name in sorted(asked - read):
                    used.add((statement.lineno, name))
                    if len(reasons.get(name, "")) < LEAST_REASON:
                        found.append(f"{module.path}:{statement.lineno}: {f.name}() returns here whatever {name} is: honour it, refuse it, "
                                     f"warn_ignored(), or say `# harmless({name}): why` above")
    for number, text in enumerate(lines, 1):
        for match in HARMLESS.finditer(text):
            for name in match.group(1).split(","):
                if not {(number, name.strip()), (number + 1, name.strip())} & used:
                    found.append(f"{module.path}:{number}: harmless({name.strip()}) describes nothing")
    return found


def names_anywhere(node):
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
