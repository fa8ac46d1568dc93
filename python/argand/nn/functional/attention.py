"""Attention."""
import math
import warnings

from ... import _C
from .dropout import dropout
from .linear import linear
from .padding import pad


def scaled_dot_product_attention(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None,
                                 enable_gqa=False):
    """softmax(Q K^T * scale + mask) V for [*, L, E], [*, S, E] and [*, S, V]; a boolean mask is true where to
    attend."""
    return _C.scaled_dot_product_attention(query, key, value, attn_mask, dropout_p, is_causal, scale=scale,
                                           enable_gqa=enable_gqa)


def _canonical_mask(mask, mask_name, other_type, other_name, target_type, check_other=True):
    """A mask as numbers to add: a boolean one is -inf where it is true."""
    if mask is None:
        return None
    is_float = mask.is_floating_point()
    if mask.dtype is not _C.bool and not is_float:
        raise AssertionError(f"only bool and floating types of {mask_name} are supported")
    if check_other and other_type is not None and mask.dtype is not other_type:
        warnings.warn(f"Support for mismatched {mask_name} and {other_name} is deprecated. Use same type for both "
                      "instead.",
                      stacklevel=3)
    if is_float:
        return mask
    return _C.zeros_like(mask, dtype=target_type).masked_fill_(mask, -math.inf)


def _none_or_dtype(input):
    return None if input is None else input.dtype


def _mha_shape_check(query, key, value, key_padding_mask, attn_mask, num_heads):
    """Whether the call has a batch."""
    batched = query.dim() == 3
    if query.dim() not in (2, 3):
        raise AssertionError(f"query should be unbatched 2D or batched 3D tensor but received {query.dim()}-D query "
                             "tensor")
    kind, wanted = ("batched (3-D)", 3) if batched else ("unbatched (2-D)", 2)
    if key.dim() != wanted or value.dim() != wanted:
        raise AssertionError(f"For {kind} `query`, expected `key` and `value` to be {wanted}-D but found {key.dim()}-D "
                             f"and {value.dim()}-D tensors respectively")
    if key_padding_mask is not None and key_padding_mask.dim() != wanted - 1:
        raise AssertionError(f"For {kind} `query`, expected `key_padding_mask` to be `None` or {wanted - 1}-D but "
                             f"found {key_padding_mask.dim()}-D tensor instead")
    if attn_mask is not None and attn_mask.dim() not in (2, 3):
        raise AssertionError(f"For {kind} `query`, expected `attn_mask` to be `None`, 2-D or 3-D but found "
                             f"{attn_mask.dim()}-D tensor instead")
    if not batched and attn_mask is not None and attn_mask.dim() == 3:
        expected = (num_heads, query.shape[0], key.shape[0])
        if tuple(attn_mask.shape) != expected:
            raise AssertionError(f"Expected `attn_mask` shape to be {expected} but got {attn_mask.shape}")
    return batched


def _in_projection_packed(q, k, v, w, b=None):
    """The projections of q, k and v by the three parts of one weight [3 E, E]: views of one product where inputs are
    the same."""
    if k is v and q is k:
        return linear(q, w, b).chunk(3, -1)
    if k is v:
        size = q.size(-1)
        w_q, w_kv = w.split([size, size * 2])
        b_q, b_kv = (None, None) if b is None else b.split([size, size * 2])
        return linear(q, w_q, b_q), *linear(k, w_kv, b_kv).chunk(2, -1)
    return _in_projection(q, k, v, *w.chunk(3), *((None, None, None) if b is None else b.chunk(3)))


def _in_projection(q, k, v, w_q, w_k, w_v, b_q=None, b_k=None, b_v=None):
    return linear(q, w_q, b_q), linear(k, w_k, b_k), linear(v, w_v, b_v)


def _project(query, key, value, weight, bias, separate):
    if separate is None:
        assert weight is not None, "use_separate_proj_weight is False but in_proj_weight is None"
        # A bias of another dtype is added in that of the products, as in PyTorch.
        return _in_projection_packed(query, key, value, weight, bias if bias is None else bias.to(weight.dtype))
    for name, w in zip("qkv", separate):
        assert w is not None, f"use_separate_proj_weight is True but {name}_proj_weight is None"
    return _in_projection(query, key, value, *separate, *((None, None, None) if bias is None else bias.chunk(3)))


def _check_mask_shape(attn_mask, length, source, heads):
    """The mask as [1 or N * heads, L, S]."""
    expected = (length, source) if attn_mask.dim() == 2 else (heads, length, source)
    if tuple(attn_mask.shape) != expected:
        raise RuntimeError(f"The shape of the {attn_mask.dim()}D attn_mask is {attn_mask.shape}, but should be "
                           f"{expected}.")
    return attn_mask.unsqueeze(0) if attn_mask.dim() == 2 else attn_mask


def _wider(mask):
    return None if mask is None else pad(mask, (0, 1))


def multi_head_attention_forward(
        query, key, value, embed_dim_to_check, num_heads, in_proj_weight, in_proj_bias, bias_k, bias_v, add_zero_attn,
        dropout_p, out_proj_weight, out_proj_bias, training=True, key_padding_mask=None, need_weights=True,
        attn_mask=None, use_separate_proj_weight=False, q_proj_weight=None, k_proj_weight=None, v_proj_weight=None,
        static_k=None, static_v=None, average_attn_weights=True, is_causal=False):
    """Attention of `num_heads` heads between projections of query [L, N, E], key and value [S, N, *], and the
    projection of
    what comes out; with it the weights [N, L, S] (of each head if not average_attn_weights), or None."""
    batched = _mha_shape_check(query, key, value, key_padding_mask, attn_mask, num_heads)
    if not batched:
        same_key, same_value = key is query, value is key
        query = query.unsqueeze(1)
        key = query if same_key else key.unsqueeze(1)
        value = key if same_value else value.unsqueeze(1)
        key_padding_mask = None if key_padding_mask is None else key_padding_mask.unsqueeze(0)
    length, batch, embed_dim = query.shape
    source = key.shape[0]
    key_padding_mask = _canonical_mask(key_padding_mask, "key_padding_mask", _none_or_dtype(attn_mask), "attn_mask",
                                       query.dtype)
    if is_causal and attn_mask is None:
        raise RuntimeError("Need attn_mask if specifying the is_causal hint.")
    if is_causal and key_padding_mask is None and not need_weights:
        attn_mask = None  # the hint says all
    else:
        attn_mask = _canonical_mask(attn_mask, "attn_mask", None, "", query.dtype, check_other=False)
        is_causal = is_causal and key_padding_mask is None
    assert embed_dim == embed_dim_to_check, (
        f"was expecting embedding dimension of {embed_dim_to_check}, but got {embed_dim}")
    head_dim = embed_dim // num_heads
    assert head_dim * num_heads == embed_dim, f"embed_dim {embed_dim} not divisible by num_heads {num_heads}"
    if use_separate_proj_weight:
        assert key.shape[:2] == value.shape[:2], (
            f"key's sequence and batch dims {key.shape[:2]} do not match value's {value.shape[:2]}")
    else:
        assert key.shape == value.shape, f"key shape {key.shape} does not match value shape {value.shape}"
    q, k, v = _project(query, key, value, in_proj_weight, in_proj_bias,
                       (q_proj_weight, k_proj_weight, v_proj_weight) if use_separate_proj_weight else None)
    if attn_mask is not None:
        attn_mask = _check_mask_shape(attn_mask, length, source, batch * num_heads)
    if bias_k is not None and bias_v is not None:
        assert static_k is None, "bias cannot be added to static key."
        assert static_v is None, "bias cannot be added to static value."
        k, v = _C.cat([k, bias_k.repeat(1, batch, 1)]), _C.cat([v, bias_v.repeat(1, batch, 1)])
        attn_mask, key_padding_mask = _wider(attn_mask), _wider(key_padding_mask)
    else:
        assert bias_k is None and bias_v is None
    rows = batch * num_heads
    if not need_weights and static_k is None and static_v is None and not add_zero_attn:
        # [N, heads, L, E / heads] without a copy, as scaled_dot_product_attention takes them.
        q, k, v = (t.unflatten(-1, (num_heads, head_dim)).permute(1, 2, 0, 3) for t in (q, k, v))
    else:
        q = q.reshape(length, rows, head_dim).transpose(0, 1)
        k = static_k if static_k is not None else k.reshape(k.shape[0], rows, head_dim).transpose(0, 1)
        v = static_v if static_v is not None else v.reshape(v.shape[0], rows, head_dim).transpose(0, 1)
    for name, given in (("static_k", static_k), ("static_v", static_v)):
        if given is not None:
            assert given.size(0) == rows, f"expecting {name}.size(0) of {rows}, but got {given.size(0)}"
            assert given.size(2) == head_dim, f"expecting {name}.size(2) of {head_dim}, but got {given.size(2)}"
    if add_zero_attn:
        zeros = _C.zeros((rows, 1, head_dim), dtype=k.dtype, device=k.device)
        k, v = _C.cat([k, zeros], 1), _C.cat([v, zeros], 1)
        attn_mask, key_padding_mask = _wider(attn_mask), _wider(key_padding_mask)
    source = k.size(-2)
    if key_padding_mask is not None:
        assert tuple(key_padding_mask.shape) == (batch, source), (
            f"expecting key_padding_mask shape of {(batch, source)}, but got {key_padding_mask.shape}")
        padding = key_padding_mask.reshape(batch, 1, 1, source).expand(-1, num_heads, -1, -1).reshape(rows, 1, source)
        attn_mask = padding if attn_mask is None else attn_mask + padding
    if not training:
        dropout_p = 0.0
    if not need_weights:
        if attn_mask is not None:
            attn_mask = (attn_mask.unsqueeze(0) if attn_mask.size(0) == 1 and attn_mask.dim() == 3
                         else attn_mask.reshape(batch, num_heads, -1, source))
        if q.dim() == 3:
            q, k, v = (t.reshape(batch, num_heads, -1, head_dim) for t in (q, k, v))
        heads = scaled_dot_product_attention(q, k, v, attn_mask, dropout_p, is_causal)
        output = linear(heads.permute(2, 0, 1, 3).reshape(length * batch, embed_dim), out_proj_weight, out_proj_bias)
        output = output.reshape(length, batch, output.size(1))
        # harmless(average_attn_weights): no weights are returned
        return (output if batched else output.squeeze(1)), None
    scaled = q * math.sqrt(1.0 / head_dim)
    scores = (_C.bmm(scaled, k.transpose(-2, -1)) if attn_mask is None
              else _C.baddbmm(attn_mask, scaled, k.transpose(-2, -1)))
    weights = scores.softmax(-1)
    if dropout_p > 0.0:
        weights = dropout(weights, dropout_p)
    output = _C.bmm(weights, v).transpose(0, 1).reshape(length * batch, embed_dim)
    output = linear(output, out_proj_weight, out_proj_bias)
    output = output.reshape(length, batch, output.size(1))
    weights = weights.reshape(batch, num_heads, length, source)
    if average_attn_weights:
        weights = weights.mean(1)
    return (output, weights) if batched else (output.squeeze(1), weights.squeeze(0))
