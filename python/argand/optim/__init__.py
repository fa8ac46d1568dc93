"""Optimizers, and schedules of their learning rates, as torch.optim."""
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


def __getattr__(name):
    # Averages are modules: argand.nn is loaded for those who want them alone.
    if name != "swa_utils":
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    from importlib import import_module
    return import_module(".swa_utils", __name__)
