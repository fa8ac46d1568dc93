"""Nested tensors, as torch.nested: only names.  There are none."""
from ._refused import refused

__all__ = ["as_nested_tensor", "masked_select", "narrow", "nested_tensor", "nested_tensor_from_jagged", "to_padded_tensor"]

globals().update({name: refused("torch.nested." + name, "there are no nested tensors; torch.nn.utils.rnn.pad_sequence pads")
                  for name in __all__})
