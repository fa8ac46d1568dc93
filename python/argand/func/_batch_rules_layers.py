"""vmap's rules of convolutions, pools, normalizations, resampling and losses.

What all slices share a weight for is one call, in which slices are more of what the layer calls its batch.  Where each slice has a weight of its
own, or a weight's gradient, slices are groups of channels.
"""
from .. import _C
from .._untyped_storage import _is_alias_of
from ._batch_rules import aligned, check_slice, joint_shape, loop, ranked, rule


def _folded(t):
    """[B, N, ...] as [B * N, ...]"""
    return t.reshape(-1, *t.shape[2:])


def _as_channels(t, at=1):
    """[B, N, C, ...] as [N, B * C, ...]"""
    return t.movedim(0, at).flatten(at, at + 1)


def _from_channels(t, size, at=1):
    return t.unflatten(at, (size, -1) if size else (0, t.shape[at])).movedim(at, 0)


def _per_slice(t, size):
    return t.unflatten(0, (size, t.shape[0] // size)) if size else t.reshape(0, *t.shape)


# ---- convolutions

@rule("_convolution_nd")
def _convolution(level, op, arguments):
    x, weight, bias = arguments["input"], arguments["weight"], arguments.get("bias")
    check_slice(op, arguments)
    ws, bs, size = level.front(weight), level.front(bias) if bias is not None else None, level.size
    added = bias if bs is None else None
    if ws is None:
        made = op({**arguments, "input": _folded(level.whole(x)), "bias": added})
        made = made.unflatten(0, (size, x.shape[0]))
    elif level.front(x) is None and arguments["groups"] == 1:
        made = op({**arguments, "weight": ws.flatten(0, 1), "bias": None if added is None else added.repeat(size)})
        made = _from_channels(made, size)
    else:
        made = op({**arguments, "input": _as_channels(level.whole(x)), "weight": ws.flatten(0, 1), "groups": size * arguments["groups"],
                   "bias": None if added is None else added.repeat(size)})
        made = _from_channels(made, size)
    if bs is not None:
        made = made + bs.reshape(size, 1, -1, *[1] * (made.dim() - 3))
    return made


@rule("_conv_input_grad")
def _conv_input_grad(level, op, arguments):
    g, weight, shape, size = level.whole(arguments["grad_output"]), arguments["weight"], list(arguments["input_size"]), level.size
    ws = level.front(weight)
    if ws is None:
        return op({**arguments, "grad_output": _folded(g), "input_size": [size * shape[0], *shape[1:]]}).unflatten(0, (size, shape[0]))
    made = op({**arguments, "grad_output": _as_channels(g), "weight": ws.flatten(0, 1), "groups": size * arguments["groups"],
               "input_size": [shape[0], size * shape[1], *shape[2:]]})
    return _from_channels(made, size)


@rule("_conv_weight_grad")
def _conv_weight_grad(level, op, arguments):
    g, x, shape, size = level.whole(arguments["grad_output"]), level.whole(arguments["input"]), list(arguments["weight_size"]), level.size
    made, bias = op({**arguments, "grad_output": _as_channels(g), "input": _as_channels(x), "weight_size": [size * shape[0], *shape[1:]],
                     "groups": size * arguments["groups"]})
    return _per_slice(made, size), _per_slice(bias, size) if arguments["bias"] else bias.reshape(0).expand(size, 0)


# ---- pools and resampling: slices are more planes

def _planes(spatial_of, whole_sizes=True):
    def by_planes(level, op, arguments):
        spatial, given = spatial_of(arguments), dict(arguments)
        first = arguments[op.places[0]]
        has_channels = first.dim() == spatial + 2
        for n in op.tensors:
            if isinstance(given.get(n), _C.Tensor):
                given[n] = level.whole(given[n])
                given[n] = _folded(given[n]) if has_channels else given[n]
        if "input_size" in given and whole_sizes:
            shape = list(given["input_size"])
            given["input_size"] = [level.size * shape[0], *shape[1:]] if has_channels else [level.size, *shape]
        results = op(given)

        def back(t):
            return t.unflatten(0, (level.size, first.shape[0])) if has_channels else t
        return back(results) if isinstance(results, _C.Tensor) else tuple(map(back, results))
    return by_planes


rule("_avg_pool_nd", "_avg_pool_nd_backward", "_max_pool_nd")(_planes(lambda given: len(given["kernel_size"])))
rule("_adaptive_avg_pool_nd", "_adaptive_max_pool_nd", "_upsample")(_planes(lambda given: len(given["output_size"])))
rule("_adaptive_avg_pool_nd_backward", "_max_pool_backward")(_planes(lambda given: given["spatial"]))
rule("_upsample_backward")(_planes(lambda given: len(given["input_size"]), whole_sizes=False))


@rule("affine_grid_generator")
def _affine_grid(level, op, arguments):
    n, *rest = arguments["size"]
    return op({**arguments, "theta": _folded(level.whole(arguments["theta"])), "size": [level.size * n, *rest]}).unflatten(0, (level.size, n))


# ---- normalizations

def _channel_values(level, t):
    """A tensor of one value for each channel, for slices that are groups of channels."""
    if t is None:
        return None
    value = level.front(t)
    return t.repeat(level.size) if value is None else value.reshape(-1)


@rule("native_batch_norm")
def _batch_norm(level, op, arguments):
    statistics = [arguments.get(n) for n in ("running_mean", "running_var")]
    if all(t is None or level.front(t) is None for t in (arguments["input"], *statistics)):
        outs = op({**arguments, "weight": None, "bias": None})
        made = outs[0].expand(level.size, *outs[0].shape)
        for n, join in (("weight", _C.mul), ("bias", _C.add)):
            if arguments.get(n) is not None:
                made = join(made, level.whole(arguments[n]).reshape(level.size, 1, -1, *[1] * (outs[0].dim() - 2)))
        return made, *(t.expand(level.size, *t.shape) for t in outs[1:])
    size, given = level.size, dict(arguments, input=_as_channels(level.whole(arguments["input"])))
    for n in ("weight", "bias"):
        given[n] = _channel_values(level, arguments.get(n))
    statistics = {n: arguments.get(n) for n in ("running_mean", "running_var")}
    for n, t in statistics.items():
        if t is not None and level.front(t) is None and arguments["training"]:
            raise RuntimeError("Batch norm got a batched tensor as input while the running_mean or running_var, which will be updated in place, "
                               "were not batched.\nIf you are using a module and do not need eval mode, please set `track_running_stats` to be "
                               "False. If you are using a prebuilt module and do not need eval mode, please see the functorch website for "
                               "resources on how to patch your module to work with vmap")
        given[n] = _channel_values(level, t)
    outs = op(given)
    if arguments["training"]:
        for n, t in statistics.items():
            if t is not None:
                value = level.front(t)
                if _is_alias_of(value, given[n]) or size > 1 and value.stride(0) == 0:
                    continue  # they are written, or there is no memory for those of each slice
                value.copy_(given[n].view(size, -1))
    return _from_channels(outs[0], size), *(_per_slice(t, size) if t.numel() else t.expand(size, *t.shape) for t in outs[1:])


@rule("native_batch_norm_backward")
def _batch_norm_backward(level, op, arguments):
    size, given = level.size, dict(arguments)
    for n in ("grad_out", "input"):
        given[n] = _as_channels(level.whole(arguments[n]))
    for n in ("weight", "running_mean", "running_var", "save_mean", "save_invstd"):
        given[n] = _channel_values(level, arguments.get(n)) if arguments.get(n) is None or arguments[n].numel() else arguments[n]
    outs = op(given)
    return _results(outs, arguments["output_mask"], size, _from_channels)


def _results(outs, mask, size, of_input):
    """Gradients for an input and for values of channels."""
    found = []
    for i, (t, wanted) in enumerate(zip(outs, mask)):
        found.append(None if t is None else t.expand(size, *t.shape) if not wanted else of_input(t, size) if i == 0 else _per_slice(t, size))
    return found


@rule("native_group_norm")
def _group_norm(level, op, arguments):
    size = level.size
    outs = op({**arguments, "input": _as_channels(level.whole(arguments["input"])), "weight": _channel_values(level, arguments.get("weight")),
               "bias": _channel_values(level, arguments.get("bias")), "C": size * arguments["C"], "group": size * arguments["group"]})
    return tuple(_from_channels(t, size) for t in outs)


@rule("native_group_norm_backward")
def _group_norm_backward(level, op, arguments):
    size, given = level.size, dict(arguments)
    for n in ("grad_out", "input", "mean", "rstd"):
        given[n] = _as_channels(level.whole(arguments[n]))
    given.update(weight=_channel_values(level, arguments.get("weight")), C=size * arguments["C"], group=size * arguments["group"])
    return _results(op(given), arguments["output_mask"], size, _from_channels)


def _affine(made, level, weight, bias):
    """made * weight + bias"""
    for t, join in ((weight, _C.mul), (bias, _C.add)):
        if t is not None:
            value = level.front(t)
            made = join(made, t if value is None else ranked(value, made.dim() - 1))
    return made


@rule("native_layer_norm", "_fused_rms_norm")
def _row_norm(level, op, arguments):
    given, weight, bias = dict(arguments, input=level.whole(arguments["input"])), arguments.get("weight"), arguments.get("bias")
    if all(t is None or level.front(t) is None for t in (weight, bias)):
        return op(given)
    given["weight"] = None
    if "bias" in given:
        given["bias"] = None
    outs = op(given)
    return _affine(outs[0], level, weight, bias), *outs[1:]


@rule("native_layer_norm_backward")
def _layer_norm_backward(level, op, arguments):
    weight, bias, mask = arguments.get("weight"), arguments.get("bias"), arguments["output_mask"]
    g, x, mean, rstd = (level.whole(arguments[n]) for n in ("grad_out", "input", "mean", "rstd"))
    rows = list(range(1, x.dim() - len(arguments["normalized_shape"])))

    def summed(t):
        return t.sum(rows) if rows else t
    of_x = None
    if mask[0]:
        scaled = _affine(g, level, weight, None)
        of_x = op({**arguments, "grad_out": scaled, "input": x, "mean": mean, "rstd": rstd, "weight": None, "bias": None,
                   "output_mask": [True, False, False]})[0]
    of_weight = summed(g * ((x - mean) * rstd)) if mask[1] and weight is not None else None
    return [of_x, of_weight, summed(g) if mask[2] and bias is not None else None]


@rule("_fused_rms_norm_backward")
def _rms_norm_backward(level, op, arguments):
    weight, mask = arguments.get("weight"), arguments["output_mask"]
    g, x, rstd = (level.whole(arguments[n]) for n in ("grad_out", "input", "rstd"))
    rows = list(range(1, x.dim() - len(arguments["normalized_shape"])))
    of_x = None
    if mask[0]:
        of_x = op({**arguments, "grad_out": _affine(g, level, weight, None), "input": x, "rstd": rstd, "weight": None, "output_mask": [True, False]})[0]
    of_weight = None
    if mask[1] and weight is not None:
        of_weight = g * (x * rstd)
        of_weight = of_weight.sum(rows) if rows else of_weight
    return [of_x, of_weight]


# ---- losses: by element, then reduced for each slice

_NONE, _MEAN, _SUM = range(3)


def _reduced(made, reduction):
    made = made.reshape(made.shape[0], -1)
    return made.mean(1) if reduction == _MEAN else made.sum(1)


@rule("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss")
def _loss(level, op, arguments):
    given = aligned(level, arguments)
    shape = joint_shape(arguments["self"].shape, arguments["target"].shape)
    made = op({**given, "reduction": _NONE}) if shape else op({**given, "self": level.whole(arguments["self"]), "reduction": _NONE,
                                                               "target": level.whole(arguments["target"])})
    return made if arguments["reduction"] == _NONE else _reduced(made, arguments["reduction"])


@rule("mse_loss_backward", "l1_loss_backward", "smooth_l1_loss_backward", "huber_loss_backward")
def _loss_backward(level, op, arguments):
    x, target = arguments["self"], arguments["target"]
    shape = joint_shape(x.shape, target.shape)

    def full(t):
        return ranked(level.whole(t), len(shape)).expand(level.size, *shape)
    g = full(arguments["grad_output"])
    if arguments["reduction"] == _MEAN:
        g = g / max(1, _count(shape))
    made = op({**arguments, "grad_output": g, "self": full(x), "target": full(target), "reduction": _NONE})
    return made


def _count(shape):
    n = 1
    for s in shape:
        n *= s
    return n


rule("_pair_loss_derivative")(lambda level, op, arguments: op(aligned(level, arguments)))


def _class_weights(level, target, weight, ignored, dtype):
    """The weight of each target; 0 where it is to be ignored."""
    kept = target != ignored
    if weight is None:
        return kept.to(dtype)
    value, known = level.front(weight), _C.where(kept, target, 0)
    each = weight[known] if value is None else value.gather(1, known.flatten(1)).view(known.shape)
    return _C.where(kept, each, 0).to(dtype)


def _rows_of(level, arguments):
    """Logits [B * N, C, ...] and targets of such a loss."""
    x, target = level.whole(arguments["self"]), level.whole(arguments["target"])
    if arguments["target"].dim() == 0:
        return x, target, target.unsqueeze(1)
    return _folded(x), _folded(target), target.reshape(level.size, -1)


@rule("_cross_entropy", "nll_loss_forward")
def _class_loss(level, op, arguments):
    weight, reduction = arguments.get("weight"), arguments["reduction"]
    if weight is not None and level.front(weight) is not None:
        return loop(level, op, arguments)
    x, target, by_slice = _rows_of(level, arguments)
    outs = op({**arguments, "self": x, "target": target, "reduction": _NONE})
    losses, total = outs[0].reshape(level.size, *arguments["target"].shape), outs[-1]
    middle = tuple(t.reshape(level.size, -1) for t in outs[1:-1])
    if op.name == "nll_loss_forward" and reduction == _NONE:
        return losses, total.expand(level.size, *total.shape)
    total = _class_weights(level, by_slice, weight, arguments["ignore_index"], total.dtype).sum(1)
    if reduction == _NONE:
        return losses, *middle, total
    loss = losses.reshape(level.size, -1).sum(1)
    return loss / total.to(loss.dtype) if reduction == _MEAN else loss, *middle, total


@rule("_cross_entropy_backward", "nll_loss_backward")
def _class_loss_backward(level, op, arguments):
    weight, reduction = arguments.get("weight"), arguments["reduction"]
    if weight is not None and level.front(weight) is not None:
        return loop(level, op, arguments)
    x, target, _ = _rows_of(level, arguments)
    g, total = level.whole(arguments["grad_output"]), level.whole(arguments["total_weight"])
    if reduction == _MEAN:
        g = g / total.to(g.dtype)
    if reduction != _NONE:
        g = ranked(g, max(arguments["target"].dim(), 0)).expand(level.size, *arguments["target"].shape)
    given = {**arguments, "self": x, "target": target, "reduction": _NONE, "total_weight": total.sum(),
             "grad_output": g.reshape(target.shape)}
    if "log_sum" in arguments:
        given["log_sum"] = level.whole(arguments["log_sum"]).reshape(-1)
    return op(given).reshape(level.size, *arguments["self"].shape)
