"""Options of a compiler that Argand does not have: values that are set are kept and have no effect; others are missing attributes."""
from ..compiler_options import INDUCTOR, make_options

size_asserts = True

make_options(__name__, INDUCTOR)
