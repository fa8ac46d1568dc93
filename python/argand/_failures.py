"""Exceptions of another process or thread, which the program raises again."""
import traceback


class Failure:
    """An exception of a worker, to be raised again in the program: of the same type, with its traceback as text."""

    def __init__(self, error, where):
        self.exc_type, self.where = type(error), where
        self.exc_msg = "".join(traceback.format_exception(error))
        self.text = f"Caught {self.exc_type.__name__} {where}.\nOriginal {self.exc_msg}"

    def without_type(self):
        """For an exception type that cannot be pickled."""
        self.exc_type = RuntimeError
        return self

    def reraise(self):
        """Raises it.  No frame keeps what is raised: else what it has seen, workers too, would live until garbage is collected."""
        raise self._error() from None

    def _error(self):
        text = _Text(self.text) if self.exc_type is KeyError else self.text
        try:
            if getattr(self.exc_type, "message", None):  # PyTorch's own way for classes that have one
                return self.exc_type(message=text)
            error = self.exc_type(text)
        except Exception:  # its constructor wants something else
            return RuntimeError(text)
        return error if isinstance(error, BaseException) else RuntimeError(text)


class _Text(str):
    """A text that shows its line breaks in KeyError, which prints the repr() of its argument."""

    def __repr__(self):
        return str(self)
