"""Collectives through which gradients pass, as torch.distributed.nn: they need a process group."""
from ... import _surface
from . import functional  # noqa: F401
from .functional import *  # noqa: F401,F403

__getattr__, __dir__ = _surface.of(__name__)
