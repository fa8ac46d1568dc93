"""Algorithms on top of collectives, as torch.distributed.algorithms."""
from ... import _surface

__getattr__, __dir__ = _surface.of(__name__)
