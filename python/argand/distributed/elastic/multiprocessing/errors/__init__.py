"""What failed in a worker, as torch.distributed.elastic.multiprocessing.errors."""
from ...._launch.errors import ChildFailedError, ProcessFailure, get_error_handler, record  # noqa: F401
from .error_handler import ErrorHandler

__all__ = ["ChildFailedError", "ErrorHandler", "ProcessFailure", "get_error_handler", "record"]
