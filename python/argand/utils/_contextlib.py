"""Context managers that decorate, by the name that packages take."""
from .._contextlib import _DecoratorContextManager, _NoParamDecoratorContextManager  # noqa: F401
