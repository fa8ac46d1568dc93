"""Modules run at the same time, each by a thread."""
import threading

from ... import _C
from .scatter_gather import device_index


def _run_each(functions):
    """Runs the functions in threads with the caller's modes (gradients, autocast, ...); the results, or the first error."""
    state = _C._ThreadState()
    results = [None] * len(functions)
    errors = [None] * len(functions)

    def run(i):
        try:
            results[i] = state.run(functions[i])
        except Exception as error:
            errors[i] = error
    threads = [threading.Thread(target=run, args=(i,)) for i in range(len(functions))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for i, error in enumerate(errors):
        if error is not None:
            error.add_note(f"Caught in replica {i}.")
            raise error
    return results


def parallel_apply(modules, inputs, kwargs_tup=None, devices=None):
    """modules[i](*inputs[i], **kwargs_tup[i]) on devices[i], at the same time; the results in a list."""
    if len(modules) != len(inputs):
        raise AssertionError(f"The number of modules {len(modules)} is not equal to the number of inputs {len(inputs)}")
    kwargs_tup = ({},) * len(modules) if kwargs_tup is None else kwargs_tup
    devices = [None] * len(modules) if devices is None else [device_index(d) for d in devices]

    def call(module, args, kwargs, device):
        args = args if isinstance(args, (tuple, list)) else (args,)
        if device is None or device.type != "cuda":
            return lambda: module(*args, **kwargs)

        def on_device():
            from ... import cuda
            with cuda.device(device):
                return module(*args, **kwargs)
        return on_device
    functions = [call(*of_one) for of_one in zip(modules, inputs, kwargs_tup, devices)]
    return _run_each(functions) if len(functions) > 1 else [functions[0]()]
