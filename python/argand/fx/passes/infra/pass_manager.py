"""PassManager: passes over a GraphModule, in an order that keeps constraints."""
import functools
import inspect

from ...._ignored import harmless
from ....nn import Module
from ...graph_module import GraphModule
from .pass_base import PassResult

__all__ = ["pass_result_wrapper", "this_before_that_pass_constraint", "PassManager"]


def _name(function):
    return function.__name__ if inspect.isfunction(function) else type(function).__name__


def pass_result_wrapper(fn):
    """A pass of a function that changes a module in place or returns the changed one: it is taken to have changed it."""
    if fn is None:
        return None

    def run(gm):
        result = fn(gm)
        if result is None:
            return PassResult(gm, True)
        return PassResult(result, True) if isinstance(result, Module) else result if isinstance(result, PassResult) else None
    if inspect.isfunction(fn):
        return functools.wraps(fn)(run)
    run.__name__ = type(fn).__name__
    return run


def this_before_that_pass_constraint(this, that):
    """The constraint that `this` runs before `that`: false of a pair (that, this)."""
    return lambda a, b: not (a == that and b == this)


def _topological_sort_passes(passes, constraints):
    """The passes in an order that all constraints allow: those that nothing must precede first, as they are given."""
    if not constraints:
        return passes
    after, waits_for = {p: [] for p in passes}, dict.fromkeys(passes, 0)
    for a in passes:
        for b in passes:
            refusals = 0 if a == b else sum(not constraint(a, b) for constraint in constraints)
            after[b] += [a] * refusals
            waits_for[a] += refusals
    ready, order = [p for p in passes if waits_for[p] == 0], []
    while ready:
        done = ready.pop(0)
        order.append(done)
        for p in after[done]:
            waits_for[p] -= 1
            if waits_for[p] == 0:
                ready.append(p)
    left = [p for p in waits_for if waits_for[p] != 0]
    if left:
        raise RuntimeError(f"Circular dependency detected within the following passes: {left}")
    return order


class PassManager:
    """Runs passes over a module, at most `steps` times all of them, until none changes it any more.

    A constraint(a, b) says whether pass a may run before pass b.  With run_checks_after_each_pass, check() looks at the module after
    each pass, too.
    """

    steps = 1

    def __init__(self, passes=None, constraints=None, steps=None, run_checks_after_each_pass=False, suppress_check_failures=False):
        self.passes, self.constraints = passes or [], constraints or []
        self.steps = steps or self.steps
        self.run_checks_after_each_pass, self.suppress_check_failures = run_checks_after_each_pass, suppress_check_failures
        self._validated = False

    def add_pass(self, _pass):
        """Adds a pass after all others."""
        self.passes.append(_pass)
        self._validated = False

    def add_constraint(self, constraint):
        """Adds a constraint."""
        self.constraints.append(constraint)
        self._validated = False

    def validate_constraints(self):
        """RuntimeError if the passes stand in an order that a constraint refuses."""
        for constraint in () if self._validated else self.constraints:
            for i, a in enumerate(self.passes):
                for j, b in enumerate(self.passes[i + 1:], i + 1):
                    if not constraint(a, b):
                        raise RuntimeError(f"pass schedule constraint violated. Expected {b} before {a}, but found them at {j} and {i} of the "
                                           "pass list")
        self._validated = True

    def solve_constraints(self):
        """Puts the passes into an order that the constraints allow."""
        self.passes = _topological_sort_passes(self.passes, self.constraints)
        self._validated = True

    def add_checks(self, check):
        """Sets the function that check() calls with the module; it raises if something is wrong."""
        if len(inspect.signature(check).parameters) != 1:
            raise TypeError("PassManager check function should only take in one variable, a module")
        self.check = check

    @harmless(module="it is for add_checks() and subclasses to look at")
    def check(self, module):
        """Raises where the module is not as it should be."""

    def _checked(self, module):
        try:
            self.check(module)
        except Exception:
            if not self.suppress_check_failures:
                raise

    def __call__(self, module):
        if not self._validated:
            self.solve_constraints()
        self._checked(module)
        changed = False
        for _ in range(self.steps):
            again = False
            for i, function in enumerate(self.passes):
                try:
                    module, modified = self._run(function, module)
                except Exception as error:
                    raise Exception(f"An error occurred when running the '{_name(function)}' pass after the following passes: "  # noqa: TRY002
                                    f"{[_name(p) for p in self.passes[:i]]}") from error
                again = again or modified
            changed = changed or again
            if not again:
                break
        return PassResult(module, changed)

    def _run(self, function, module):
        result = function(module)
        if not hasattr(result, "graph_module"):
            raise TypeError(f"The result of the pass {_name(function)} should be type PassResult. Please wrap it with pass_result_wrapper()")
        if isinstance(result.graph_module, GraphModule):
            result.graph_module.recompile()
        if self.run_checks_after_each_pass:
            self._checked(result.graph_module)
        return result.graph_module, result.modified
