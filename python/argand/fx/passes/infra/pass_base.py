"""PassBase: a change of a GraphModule, with what must hold before and after it."""
import abc
import typing

from ...._ignored import harmless

__all__ = ["PassResult", "PassBase"]


class PassResult(typing.NamedTuple):
    """The module that a pass leaves, and whether it changed it."""
    graph_module: object
    modified: bool


class PassBase(abc.ABC):
    """A pass: call() changes a GraphModule; requires() and ensures() raise where it cannot run, or went wrong."""

    def __call__(self, graph_module):
        self.requires(graph_module)
        result = self.call(graph_module)
        self.ensures(graph_module)
        return result

    @abc.abstractmethod
    def call(self, graph_module):
        """The change; returns a PassResult."""

    @harmless(graph_module="it is for subclasses to look at")
    def requires(self, graph_module):  # noqa: B027
        """Raises if the pass cannot run on this module."""

    @harmless(graph_module="it is for subclasses to look at")
    def ensures(self, graph_module):  # noqa: B027
        """Raises if the module is not as the pass should leave it."""
