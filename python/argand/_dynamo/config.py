"""Options of a compiler that is not there: they are kept, and read by nobody; what was not set is not there."""
import contextlib

cache_size_limit = recompile_limit = 8
accumulated_cache_size_limit = 256
automatic_dynamic_shapes = assume_static_by_default = optimize_ddp = True
ignore_logger_methods = set()
skip_fwd_side_effects_in_bwd_under_checkpoint = suppress_errors = verbose = disable = capture_scalar_outputs = capture_dynamic_output_shape_ops = error_on_recompile = False


@contextlib.contextmanager
def patch(*args, **values):
    """A scope with other options: by name, in a dict, or one as name and value."""
    values = {**(args[0] if args and isinstance(args[0], dict) else dict([args] if args else [])), **values}
    before = dict(globals())
    globals().update(values)
    try:
        yield
    finally:
        globals().clear()
        globals().update(before)
