"""The package asks the extension module only for names that it has: nothing adds any."""
import ast
import pathlib

import argand

PACKAGE = pathlib.Path(argand.__file__).resolve().parent


def names_asked_for(tree):
    """(name, line) of each `_C.name` and `from ._C import name` in a file that imports argand._C."""
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    has_module = any(alias.name == "_C" and alias.asname is None for node in imports for alias in node.names)
    for node in ast.walk(tree):
        if has_module and isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "_C":
            yield node.attr, node.lineno
    for node in imports:
        if node.level and node.module == "_C":
            yield from ((alias.name, node.lineno) for alias in node.names if alias.name != "*")


def test_every_name_is_there():
    asked = [(name, f"{path.relative_to(PACKAGE)}:{line}") for path in sorted(PACKAGE.rglob("*.py"))
             for name, line in names_asked_for(ast.parse(path.read_text()))]
    assert len(asked) > 1000
    assert [(name, place) for name, place in asked if not hasattr(argand._C, name)] == []
