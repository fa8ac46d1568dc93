"""Who imports whom in python/argand: the imports of each file, at its top and inside functions, and their cycles.

usage: python_imports.py    prints the groups of files that import each other, directly or through others
"""
import ast
import functools
import re
import sys
from typing import NamedTuple

FOLDER, PACKAGE = "python/", "argand"
EXTENSION = f"{PACKAGE}._C"  # which imports nothing of the package
UPWARD = re.compile(r"#\s*upward:\s*(\S.*)?$")


class Import(NamedTuple):
    """An import of one module of the package by another."""
    line: int
    target: str       # argand.nn.modules.linear
    inside: bool      # in a function: it runs later than the file
    reason: object    # the text after "# upward:", None where there is none


def module_of(path):
    """argand.nn.init for python/argand/nn/init.py, argand.nn for python/argand/nn/__init__.py."""
    return path.removeprefix(FOLDER).removesuffix(".py").replace("/", ".").removesuffix(".__init__")


def packages_of(module):
    """The packages that a module is in, without argand itself: Python runs them before the module."""
    parts = module.split(".")
    return [".".join(parts[:n]) for n in range(2, len(parts))]


def _statements(body, inside=False):
    """(import statement, whether it is in a function) of a body.  What stands under `if TYPE_CHECKING:` never runs."""
    for node in body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield node, inside
            continue
        if isinstance(node, ast.If) and ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING"):
            continue
        within = inside or isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        for part in ("body", "orelse", "finalbody"):
            yield from _statements(getattr(node, part, ()), within)
        for other in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
            yield from _statements(other.body, within)


@functools.lru_cache(maxsize=None)
def _named(path, text):
    """The imports of a file as they are written, by the full name of what each imports."""
    module, lines, found = module_of(path), text.split("\n"), []
    package = module if path.endswith("/__init__.py") else module.rpartition(".")[0]
    for node, inside in _statements(ast.parse(text, path).body):
        reason = UPWARD.search("\n".join(lines[node.lineno - 1:node.end_lineno]))
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            parts = package.split(".")
            above = parts[:len(parts) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            names = [f"{base}.{alias.name}" for alias in node.names]
        found += [Import(node.lineno, name, inside, reason and (reason[1] or "")) for name in names]
    return found


def imports_of(texts):
    """{module: [Import]} of {path: text}.  Targets are modules: the one of a name, or the one that defines the name."""
    known = {module_of(path) for path in texts}

    def target(name):
        while name and name not in known:
            name = name.rpartition(".")[0]
        return name
    found = {}
    for path, text in texts.items():
        module = module_of(path)
        ours = [i for i in _named(path, text) if not (i.target + ".").startswith(EXTENSION + ".")]
        found[module] = [i._replace(target=target(i.target)) for i in ours if target(i.target) not in ("", module)]
    return found


def runs(module, target):
    """The modules that an import runs: the target, and the packages that it is in and the importing module is not."""
    own = {module, *packages_of(module)}
    return [name for name in (target, *packages_of(target)) if name not in own]


def edges_of(imports, inside, declared):
    """{module: [module]}: with imports inside functions or without, with those declared to point up or without."""
    def counts(i):
        return (inside or not i.inside) and (declared or i.reason is None)
    return {module: sorted({name for i in found if counts(i) for name in runs(module, i.target)})
            for module, found in imports.items()}


def knots(edges):
    """The groups of nodes that reach each other (Tarjan's strongly connected components), the largest first."""
    number, low, stack, groups = {}, {}, [], []
    for root in edges:
        work = [] if root in number else [(root, None)]
        while work:
            node, children = work.pop()
            if children is None:
                number[node] = low[node] = len(number)
                stack.append(node)
                children = iter(edges.get(node, ()))
            for child in children:
                if child not in number:
                    work += [(node, children), (child, None)]
                    break
                if child in stack:
                    low[node] = min(low[node], low[child])
            else:
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == number[node]:
                    group = stack[stack.index(node):]
                    del stack[stack.index(node):]
                    groups += [sorted(group)] if len(group) > 1 else []
    return sorted(groups, key=len, reverse=True)


def cycle_in(edges, group):
    """The shortest way from the first of a group that reach each other back to it."""
    ways, seen = [[group[0]]], {group[0]}
    for way in ways:
        for child in edges[way[-1]]:
            if child == group[0]:
                return [*way, child]
            if child in group and child not in seen:
                seen.add(child)
                ways.append([*way, child])
    return []


def main():
    from tree import ROOT, Tree
    tree = Tree(ROOT, 1)
    imports = imports_of({path: tree.text(path) for path in tree.files(".py", under=(FOLDER + PACKAGE + "/",))})
    declared = {(module, i.line) for module, found in imports.items() for i in found if i.reason is not None}
    print(f"{len(declared)} imports are declared to point up")
    kinds = {"at the top of files": (False, True), "all but those declared": (True, False), "all": (True, True)}
    for what, options in kinds.items():
        groups = knots(edges_of(imports, *options))
        print(f"imports {what}: {len(groups)} groups, {sum(map(len, groups))} of {len(imports)} files")
        for group in groups:
            print(f"  {len(group)}: {' '.join(group)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
