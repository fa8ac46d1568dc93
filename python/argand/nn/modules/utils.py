"""Sizes that are one number or one for each dimension, under the name that programs import them by."""
from .._sizes import (_list_with_default, _ntuple, _pair, _quadruple, _reverse_repeat_tuple, _single,  # noqa: F401
                      _triple)
