"""Options of a compiler that is not there: they are kept, and read by nobody; what was not set is not there."""
from .._compiler_option_names import INDUCTOR, make_options

size_asserts = True

make_options(__name__, INDUCTOR)
