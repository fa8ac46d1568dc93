"""Writes a worker's exception to a file for its launcher."""
import faulthandler
import json
import os
import time
import traceback
import warnings

__all__ = ["ErrorHandler"]


class ErrorHandler:
    """Writes exceptions as JSON into the file that TORCHELASTIC_ERROR_FILE names; nothing where that is not set."""

    def _get_error_file_path(self):
        return os.environ.get("TORCHELASTIC_ERROR_FILE") or None

    def initialize(self):
        """Called before the function: signals that end the process print its Python stacks."""
        try:
            faulthandler.enable(all_threads=True)
        except Exception as error:  # stderr is no file
            warnings.warn(f"Unable to enable fault handler. {type(error).__name__}: {error}", stacklevel=2)

    def record_exception(self, e):
        """Writes an exception that is being handled."""
        about = {"py_callstack": traceback.format_exc(), "timestamp": str(time.time())}
        self._write({"message": {"message": f"{type(e).__name__}: {e}", "extraInfo": about}})

    def dump_error_file(self, rootcause_error_file, error_code=0):
        """Copies a worker's file into that of this process, with the worker's exit code."""
        with open(rootcause_error_file) as file:
            data = json.load(file)
        if error_code and isinstance(data.get("message"), dict):
            data["message"]["errorCode"] = error_code
        self._write(data)

    def _write(self, data):
        path = self._get_error_file_path()
        if path is None:
            return
        unfinished = f"{path}.{os.getpid()}"
        try:
            with open(unfinished, "w") as file:
                json.dump(data, file)
            os.replace(unfinished, path)  # the launcher never reads half of it
        except OSError as error:
            warnings.warn(f"Unable to write error to file. {type(error).__name__}: {error}", stacklevel=2)
