"""Attention whose scores a function changes, as torch.nn.attention.flex_attention.

The functions see all positions at once, as index tensors that broadcast, where PyTorch maps them over single ones; what PyTorch
allows in them means the same.  Scores are stored: memory grows with the square of the sequence.
"""
import math
import typing

from ... import _C
from ..._ignored import harmless, ignored

_DEFAULT_SPARSE_BLOCK_SIZE = 128

_ALL, _NOT_MADE = "all positions are alike", "the mask is made where it is used"


class AuxRequest(typing.NamedTuple):
    """What flex_attention() is to return beside its result."""
    lse: bool = False
    max_scores: bool = False


class AuxOutput(typing.NamedTuple):
    """What was asked for by AuxRequest: the logarithms of the sums, and the greatest scores, of the queries."""
    lse: typing.Optional[_C.Tensor] = None
    max_scores: typing.Optional[_C.Tensor] = None


@harmless(head=_ALL, token_q=_ALL, token_kv=_ALL)
def noop_mask(batch, head, token_q, token_kv):
    """Every position sees every other."""
    return _C.ones((), dtype=_C.bool, device=batch.device)


def _positions(batch, heads, queries, keys, device):
    """Index tensors of batch, head, query and key, each along a dimension of its own."""
    sizes = (batch, heads, queries, keys)
    return [_C.arange(size, device=device).reshape([-1 if d == i else 1 for d in range(4)]) for i, size in enumerate(sizes)]


def create_mask(mod_fn, B, H, Q_LEN, KV_LEN, device="cpu"):
    """The mask of mod_fn as bools: [B, H, Q_LEN, KV_LEN]."""
    shape = (1 if B is None else B, 1 if H is None else H, Q_LEN, KV_LEN)
    return mod_fn(*_positions(*shape, device)).expand(shape)


class BlockMask:
    """Which positions see which: a function and the sizes it was made for."""

    def __init__(self, mask_mod, shape, BLOCK_SIZE=_DEFAULT_SPARSE_BLOCK_SIZE):
        self.mask_mod, self.shape = mask_mod, tuple(shape)
        self.BLOCK_SIZE = (BLOCK_SIZE, BLOCK_SIZE) if isinstance(BLOCK_SIZE, int) else tuple(BLOCK_SIZE)
        self.seq_lengths = self.shape[2:]

    @harmless(device=_NOT_MADE)
    def to(self, device):
        """The mask; it is made where it is used."""
        return self

    def numel(self):
        """How many positions there are."""
        return math.prod(self.shape)

    def __repr__(self):
        return f"BlockMask(shape={self.shape}, mask_mod={getattr(self.mask_mod, '__name__', self.mask_mod)})"


@harmless(device=_NOT_MADE, _compile="the mask is the same")
def create_block_mask(mask_mod, B, H, Q_LEN, KV_LEN, device="cpu", BLOCK_SIZE=_DEFAULT_SPARSE_BLOCK_SIZE, _compile=False):
    """The BlockMask of mask_mod(batch, head, query, key) -> bool."""
    return BlockMask(mask_mod, (1 if B is None else B, 1 if H is None else H, Q_LEN, KV_LEN), BLOCK_SIZE)


def and_masks(*mask_mods):
    """A mask that is true where all of `mask_mods` are."""
    def both(*positions):
        result = noop_mask(*positions)
        for mod in mask_mods:
            result = result & mod(*positions)
        return result
    return both


def or_masks(*mask_mods):
    """A mask that is true where at least one of `mask_mods` is."""
    def either(*positions):
        result = ~noop_mask(*positions)
        for mod in mask_mods:
            result = result | mod(*positions)
        return result
    return either


@ignored(kernel_options=("it tunes a kernel that PyTorch compiles, and scores are stored here", {}))
def flex_attention(query, key, value, score_mod=None, block_mask=None, scale=None, enable_gqa=False, return_lse=False,
                   kernel_options=None, *, return_aux=None):
    """softmax(score_mod(query @ key^T * scale, batch, head, query position, key position), where block_mask holds) @ value.
    A query that sees nothing gives 0.  With return_lse, or an AuxRequest, (result, lse) or (result, AuxOutput)."""
    if return_lse and return_aux is not None:
        raise ValueError("Cannot specify both return_lse and return_aux. return_lse is deprecated, please use "
                         "return_aux=AuxRequest(lse=True) instead.")
    if enable_gqa and query.shape[1] != key.shape[1]:
        key, value = (t.repeat_interleave(query.shape[1] // key.shape[1], 1) for t in (key, value))
    scale = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    scores = (query @ key.transpose(-2, -1)).float() * scale
    positions = _positions(*scores.shape, scores.device)
    if score_mod is not None:
        scores = score_mod(scores, *positions)
    if block_mask is not None:
        scores = scores.masked_fill(~block_mask.mask_mod(*positions), -math.inf)
    sums = scores.logsumexp(-1, keepdim=True)
    weights = _C.exp(scores - sums.masked_fill(sums == -math.inf, 0))
    result = weights.to(value.dtype) @ value
    if return_aux is not None:
        return result, AuxOutput(sums.squeeze(-1) if return_aux.lse else None, scores.amax(-1) if return_aux.max_scores else None)
    return (result, sums.squeeze(-1)) if return_lse else result
