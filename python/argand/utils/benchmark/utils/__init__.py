"""The parts of torch.utils.benchmark."""
from . import common, compare, timer  # noqa: F401
