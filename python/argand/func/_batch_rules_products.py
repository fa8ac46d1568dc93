"""vmap's rules of products and of linear algebra."""
from .. import _C
from ._batch_rules import RULES, loop, ranked, rule, trailing

for name in ("_linalg_eigh", "linalg_eig", "_linalg_eigvals", "linalg_qr", "linalg_cholesky_ex", "cholesky_solve", "geqrf",
             "_linalg_reflections_product", "linalg_ldl_factor_ex", "_linalg_ldl_solve", "_lu_permutation", "linalg_lu_factor_ex",
             "linalg_matrix_sqrth", "_linalg_solve_square", "_linalg_solve_triangle", "_linalg_adjugate", "linalg_det", "linalg_slogdet",
             "_linalg_svd", "matrix_exp", "linalg_matrix_exp"):
    RULES[name] = trailing


def _rows(t, rank):
    """[B, rows, width] of a batch whose slices are rows of any number of dimensions."""
    return t.reshape(t.shape[0], -1, t.shape[-1]) if rank != 2 else t


@rule("linear")
def _linear(level, op, arguments):
    x, weight, bias = arguments["input"], arguments["weight"], arguments.get("bias")
    xs, ws = level.front(x), level.front(weight)
    bs = level.front(bias) if bias is not None else None
    if ws is None:
        if bs is None:
            return op({**arguments, "input": xs, "weight": weight, "bias": bias})
        made = op({**arguments, "input": level.whole(x), "weight": weight, "bias": None})
        return made + ranked(bs, made.dim() - 1)
    vector = weight.dim() == 1
    if vector:
        ws = ws.unsqueeze(1)
    if xs is None:  # one product for all weights
        made = _C.linear(x, ws.reshape(-1, ws.shape[-1])).unflatten(-1, ws.shape[:2]).movedim(-2, 0)
    else:
        made = _C.bmm(_rows(xs, x.dim()), ws.transpose(1, 2)).reshape(*xs.shape[:-1], ws.shape[1])
    if vector:
        made = made.squeeze(-1)
    if bias is not None:
        made = made + (bias if bs is None else ranked(bs, made.dim() - 1))
    return made


@rule("_linear_weight_grad")
def _linear_weight_grad(level, op, arguments):
    g, x = level.whole(arguments["grad_output"]), level.whole(arguments["input"])
    g, x = g.reshape(level.size, -1, g.shape[-1]), x.reshape(level.size, -1, x.shape[-1])
    return _C.bmm(g.transpose(1, 2), x), g.sum(1) if arguments["bias"] else g.new_zeros((level.size, 0))


def _product(level, a, b):
    """[B, ...] of slices that are matrices, or batches of them."""
    a_value, b_value = level.front(a), level.front(b)
    return _C.matmul(a if a_value is None else a_value, b if b_value is None else b_value)


@rule("mm", "bmm")
def _mm(level, op, arguments):
    a, b = arguments["self"], arguments["mat2"]
    if a.dim() != b.dim() or a.dim() != (2 if op.name == "mm" else 3) or a.shape[-1] != b.shape[-2] or a.dtype != b.dtype:
        raise RuntimeError(f"{op.name}: Shape mismatch: the slices are of shapes {list(a.shape)} and {list(b.shape)}, of {a.dtype} and {b.dtype}")
    if op.name == "mm" and level.front(a) is None:
        a_value, b_value = a, level.front(b)
        return _C.bmm(a_value.expand(level.size, *a.shape), b_value)
    if op.name == "bmm":
        a_value, b_value = level.whole(a), level.whole(b)
        shape = (*a_value.shape[:3], b_value.shape[-1])
        return _C.bmm(a_value.flatten(0, 1), b_value.flatten(0, 1)).view(shape)
    return _product(level, a, b)


@rule("addmm", "baddbmm")
def _add_product(level, op, arguments):
    a, b = (arguments[n] for n in op.places[1:])
    product = _product(level, a, b) * arguments["alpha"] if arguments["alpha"] != 1 else _product(level, a, b)
    if arguments["beta"] == 0:
        return product
    added = arguments["self"]
    value = level.front(added)
    if value is not None:
        added = ranked(value, a.dim())
    return product + (added * arguments["beta"] if arguments["beta"] != 1 else added)


def _heads(level, t):
    return level.whole(t).flatten(0, 1)


def _mask(level, mask, n):
    """A mask of the slices [N, H, T, S]: where it differs, by slice and N."""
    if mask is None:
        return None
    value = level.front(mask)
    if value is None and (mask.dim() < 4 or mask.shape[0] == 1):
        return mask
    value = ranked(level.whole(mask), 4)
    return value.expand(level.size, n, *value.shape[2:]).flatten(0, 1)


@rule("_scaled_dot_product_fused_attention", "_scaled_dot_product_attention_by_rows", "_scaled_dot_product_fused_attention_backward",
      "_scaled_dot_product_attention_by_rows_backward")
def _attention(level, op, arguments):
    mask, n = arguments.get("attn_mask"), arguments["query"].shape[0]
    if arguments["dropout_p"] > 0 or (arguments.get("of_mask") and mask is not None):
        return loop(level, op, arguments)
    given = {k: _heads(level, v) if isinstance(v, _C.Tensor) and k not in ("attn_mask", "random_state") else v for k, v in arguments.items()}
    given["attn_mask"] = _mask(level, mask, n)
    state = arguments.get("random_state")
    if state is not None:
        value = level.front(state)
        given["random_state"] = state if value is None else value[0] if level.size else state.new_zeros(state.shape)
    outs = op(given)

    def unfolded(t, is_state):
        return t.expand(level.size, *t.shape) if is_state else t.unflatten(0, (level.size, n)) if t.dim() > 0 and t.numel() else t.expand(level.size, *t.shape)
    last = len(outs) - 1
    forward = not op.name.endswith("backward")
    return tuple(unfolded(t, forward and i == last) for i, t in enumerate(outs))
