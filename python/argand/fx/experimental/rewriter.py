"""RewritingTracer: a tracer that traces assert statements, too."""
import ast
import copy
import functools
import inspect
import textwrap
from types import FunctionType

import argand

from ...nn import Module
from .._symbolic_trace import Tracer

__all__ = ["AST_Rewriter", "RewritingTracer"]


class AST_Rewriter(ast.NodeTransformer):
    """Makes a function of a function's source, with `assert` as torch._assert() and `x: T = y` as x = annotate(y, T)."""

    def rewrite(self, fn):
        """The function, with the globals of the first."""
        lines, _ = inspect.getsourcelines(fn)
        tree = ast.fix_missing_locations(self.visit(ast.parse(textwrap.dedent("".join(lines)))))
        names = dict(fn.__globals__)
        names.setdefault("torch", argand)
        exec(compile(tree, inspect.getsourcefile(fn) or "", "exec"), names)
        made = inspect.unwrap(names[fn.__name__])
        result = FunctionType(made.__code__, fn.__globals__, made.__name__, made.__defaults__, made.__closure__)
        result = functools.update_wrapper(result, made)
        result.__kwdefaults__ = copy.copy(made.__kwdefaults__)
        return result

    def visit_Assert(self, node):
        """assert a, b: torch._assert(a, b)"""
        call = ast.parse("torch._assert()", mode="eval").body
        call.args = [node.test, node.msg or ast.Constant(value="", kind=None)]
        return ast.copy_location(ast.Expr(value=call), node)

    def visit_AnnAssign(self, node):
        """x: T = y: x = annotate(y, T)"""
        if node.value is None:
            return node
        call = ast.Call(func=ast.Name(id="annotate", ctx=ast.Load()), args=[node.value, node.annotation], keywords=[])
        return ast.copy_location(ast.Assign(targets=[node.target], value=call), node)


class RewritingTracer(Tracer):
    """Traces what AST_Rewriter makes of the function, or of the forward() of a module and of those in it."""

    def trace(self, root, concrete_args=None):
        """The graph."""
        return super().trace(_rewritten(root), concrete_args)


def _rewritten(root):
    if not isinstance(root, Module):
        return AST_Rewriter().rewrite(root)
    made = type("RewrittenModule", (Module,), {"forward": AST_Rewriter().rewrite(root.forward)})()
    for name, value in vars(root).items():
        made.__dict__[name] = copy.copy(_rewritten(value) if isinstance(value, Module) else value)
    return made
