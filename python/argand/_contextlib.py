"""Context managers that are also decorators."""
import functools
import inspect
import warnings


class _DecoratorContextManager:
    """A base for context managers that also decorate functions and generators, which then run in their scope; clone() makes one
    for each call."""

    def clone(self):
        """A new context manager, made like this one."""
        return type(self)()

    def __call__(self, function):
        if inspect.isclass(function):
            warnings.warn("Decorating classes is deprecated and will be disabled in future versions. You should only decorate functions or "
                          "methods. To preserve the current behavior of class decoration, you can directly decorate the `__init__` method "
                          "and nothing else.", FutureWarning, stacklevel=2)
        if inspect.isgeneratorfunction(function):
            @functools.wraps(function)
            def generate(*args, **kwargs):
                generator = function(*args, **kwargs)
                with self.clone():
                    try:
                        item = next(generator)
                    except StopIteration as stop:
                        return stop.value
                while True:
                    try:
                        sent, throw = (yield item), None
                    except GeneratorExit:
                        with self.clone():
                            generator.close()
                        raise
                    except BaseException as error:
                        sent, throw = None, error
                    with self.clone():
                        try:
                            item = generator.send(sent) if throw is None else generator.throw(throw)
                        except StopIteration as stop:
                            return stop.value
            return generate

        @functools.wraps(function)
        def call(*args, **kwargs):
            with self.clone():
                return function(*args, **kwargs)
        return call


class _NoParamDecoratorContextManager(_DecoratorContextManager):
    """A context manager that also decorates a function without parentheses."""

    def __new__(cls, orig_func=None):
        self = super().__new__(cls)
        if orig_func is None:
            return self
        self.__init__()
        return self(orig_func)
