"""Optimizers and learning rate schedules, as torch.optim."""
from . import lr_scheduler  # noqa: F401
from .adadelta import Adadelta  # noqa: F401
from .adafactor import Adafactor  # noqa: F401
from .adagrad import Adagrad  # noqa: F401
from .adam import Adam  # noqa: F401
from .adamax import Adamax  # noqa: F401
from .adamw import AdamW  # noqa: F401
from .asgd import ASGD  # noqa: F401
from .lbfgs import LBFGS  # noqa: F401
from .nadam import NAdam  # noqa: F401
from .optimizer import Optimizer  # noqa: F401
from .radam import RAdam  # noqa: F401
from .rmsprop import RMSprop  # noqa: F401
from .rprop import Rprop  # noqa: F401
from .sgd import SGD  # noqa: F401

# Loaded for those who ask: few do, and averages are modules, which optimizers alone do without.
_LATER = {"swa_utils": "swa_utils", "Muon": "muon", "SparseAdam": "sparse_adam"}


def __getattr__(name):
    if name not in _LATER:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    from importlib import import_module
    module = import_module("." + _LATER[name], __name__)
    return module if name == _LATER[name] else getattr(module, name)
