"""Options of a compiler that Argand does not have: values that are set are kept and have no effect; others are missing attributes."""
from ..compiler_options import DYNAMO, make_options

cache_size_limit = recompile_limit = 8
accumulated_cache_size_limit = 256
automatic_dynamic_shapes = assume_static_by_default = optimize_ddp = True
ignore_logger_methods = set()
skip_fwd_side_effects_in_bwd_under_checkpoint = suppress_errors = verbose = disable = capture_scalar_outputs = capture_dynamic_output_shape_ops = error_on_recompile = False

make_options(__name__, DYNAMO)
