"""Writes a worker's exception to a file, as torch.distributed.elastic.multiprocessing.errors.error_handler."""
from ...._launch.error_handler import ErrorHandler

__all__ = ["ErrorHandler"]
