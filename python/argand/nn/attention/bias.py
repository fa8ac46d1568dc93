"""Masks of causal attention for scaled_dot_product_attention, as torch.nn.attention.bias."""
import enum

from ... import _C
from ..._C import Tensor

__all__ = ["causal_upper_left", "causal_lower_right", "CausalVariant", "CausalBias"]


class CausalVariant(enum.IntEnum):
    """Whether the first query and the first key stand beside each other, or the last ones."""
    UPPER_LEFT = 1
    LOWER_RIGHT = 2


class CausalBias(Tensor):
    """A boolean mask, true where a query may attend.  It counts as one on the device of what it is used with."""

    def __new__(cls, variant, seq_len_q, seq_len_kv):
        if not isinstance(variant, CausalVariant):
            raise AssertionError(f"variant should be a CausalVariant, got {type(variant)}")
        shift = seq_len_kv - seq_len_q if variant == CausalVariant.LOWER_RIGHT else 0
        return _C._make_subclass(cls, _C.ones(seq_len_q, seq_len_kv, dtype=_C.bool).tril(shift), False)

    def __init__(self, variant, seq_len_q, seq_len_kv):
        self.variant, self.seq_len_q, self.seq_len_kv = variant, seq_len_q, seq_len_kv

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        with _C.DisableTorchFunctionSubclass():
            devices = [x.device for x in (*args, *kwargs.values()) if isinstance(x, Tensor) and not isinstance(x, CausalBias)]

            def plain(x):
                return x.as_subclass(Tensor).to(devices[0] if devices else x.device) if isinstance(x, CausalBias) else x
            return func(*map(plain, args), **{name: plain(x) for name, x in kwargs.items()})


def causal_upper_left(*size):
    """The mask of size (queries, keys) in which query i attends to keys 0 ... i."""
    return CausalBias(CausalVariant.UPPER_LEFT, *size)


def causal_lower_right(*size):
    """The mask of size (queries, keys) in which the last query attends to all keys, and each before it to one less."""
    return CausalBias(CausalVariant.LOWER_RIGHT, *size)
