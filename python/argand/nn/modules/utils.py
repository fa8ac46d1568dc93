"""Sizes that are one number or one for each dimension, under the name that programs import them by."""
from .._sizes import (_list_with_default, _ntuple, _pair, _quadruple, _reverse_repeat_tuple, _single,  # noqa: F401
                      _triple)

__all__ = ["consume_prefix_in_state_dict_if_present"]


def consume_prefix_in_state_dict_if_present(state_dict, prefix):
    """Takes a prefix, as "module.", off the names of a state dict, in place."""
    for holder in (state_dict, getattr(state_dict, "_metadata", {})):
        for key in list(holder):
            # In the versions of modules the prefix's own module has no dot at its end.
            if key.startswith(prefix) or holder is not state_dict and key and key == prefix.replace(".", ""):
                holder[key[len(prefix):]] = holder.pop(key)
