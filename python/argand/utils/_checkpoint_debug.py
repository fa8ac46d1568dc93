"""What `debug=True` adds to the error of a checkpoint: the calls of both runs and where they came from."""
import traceback

from .. import _C
from ..overrides import TorchFunctionMode
from ._checkpoint_regions import CheckpointError
from ._pytree import tree_leaves

_DTYPES = {"float": "f", "bfloat": "bf", "int": "i", "uint": "u", "complex": "c"}


def _described(x):
    if not isinstance(x, _C.Tensor):
        return repr(x) if isinstance(x, (bool, int, float, str, type(None))) else type(x).__name__
    name = str(x.dtype).rpartition(".")[2]
    kind = name.rstrip("0123456789")
    return f"{_DTYPES.get(kind, kind)}{name[len(kind):]}[{', '.join(map(str, x.shape))}]"


class _Log(TorchFunctionMode):
    """The functions that are called, with their arguments, results and stacks."""

    def __init__(self):
        self.calls = []
        self._inside = False

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        result = func(*args, **kwargs)
        if getattr(func, "__name__", "") != "__get__":
            given = ", ".join([_described(x) for x in tree_leaves(args)] + [f"{k}={_described(v)}" for k, v in kwargs.items()])
            made = ", ".join(_described(x) for x in tree_leaves(result))
            self.calls.append((f"{made} = {getattr(func, '__name__', func)}({given})", traceback.extract_stack()[:-1]))
        return result

    def text(self, title, which):
        out = [f"{title}\n"]
        for i, (call, stack) in enumerate(self.calls):
            lines = "".join(f"{f.filename}:{f.lineno}:{f.name}\n" for f in reversed(stack))
            out.append(f"{call}   ({i + 1} of {len(self.calls)} in {which})\n\n{lines}\n")
        return "\n".join(out) + "\n"


def log_of_both():
    """Contexts for the first run and the second, and what makes an error that tells what ran in them."""
    first, second = _Log(), _Log()

    def describe(error):
        return CheckpointError(
            "An error happened while unpacking tensors; dumping logs of latest computation because you passed `debug=True` to "
            "`torch.utils.checkpoint.checkpoint()`.\n\n"
            + first.text("1. Stack traces of the operators that ran in the original forward", "original")
            + second.text("2. Stack traces of the operators that ran during recomputation", "recompute")
            + "3. Log of operators in the original forward and recomputation\n\n"
            + "".join(f"{name}: {call}\n" for name, log in (("original", first), ("recompute", second)) for call, _ in log.calls)
            + "\nYou are seeing this error because you passed `debug=True` to checkpoint, and what the two runs saved differs: most often "
              f"because other operators ran.\n\nThe error itself: {error}")
    return (first, second), describe
