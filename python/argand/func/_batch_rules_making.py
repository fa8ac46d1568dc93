"""vmap's rules of tensors that are made like others, and of random numbers."""
from .. import _C
from ._batch_rules import DRAWS, RULES, Same, aligned, joint_shape, loop, ranked, refuse_write, rule, trailing

for name in ("empty_like", "full_like"):
    RULES[name] = trailing


@rule("new_empty", "new_zeros", "new_ones", "new_full")
def _new(level, op, arguments):
    given = {**arguments, "self": level.whole(arguments["self"]), "size": [level.size, *arguments["size"]]}
    number = arguments.get("fill_value")
    if isinstance(number, _C.Tensor):
        return loop(level, op, arguments)
    return op(given)


@rule("new_empty_strided")
def _new_strided(level, op, arguments):
    size, stride = arguments["size"], arguments["stride"]
    length = 1 + sum((n - 1) * s for n, s in zip(size, stride)) if all(size) else 0
    return op({**arguments, "self": level.whole(arguments["self"]), "size": [level.size, *size], "stride": [length, *stride]})


# ---- random numbers

def _draw(*names):
    def add(function):
        DRAWS.update(names)
        return rule(*names)(function)
    return add


def _refuse():
    raise RuntimeError("vmap: called random operation while in randomness error mode. Please either use the 'same' or 'different' randomness flags on "
                       "vmap or perform the randomness operation out of vmap")


@_draw("rand", "randn", "randint")
def _made(level, op, arguments):
    return op({**arguments, "size": [level.size, *arguments["size"]]})


@_draw("randperm")
def _permutation(level, op, arguments):
    return _C.stack([op(arguments) for _ in range(level.size)]) if level.size else op(arguments).expand(0, -1)


@_draw("rand_like", "randn_like", "randint_like")
def _like(level, op, arguments):
    if level.randomness == "error":
        _refuse()
    if level.randomness == "same":
        value = level.front(arguments["self"])
        one = value[0] if level.size else arguments["self"].new_empty(arguments["self"].shape)
        return Same(op({**arguments, "self": one}))
    return op({**arguments, "self": level.whole(arguments["self"])})


@_draw("poisson", "binomial", "_standard_gamma", "_sample_dirichlet", "multinomial")
def _sampled(level, op, arguments):
    if level.randomness == "error":
        _refuse()
    given = {n: level.whole(v) if isinstance(v, _C.Tensor) else v for n, v in arguments.items()}
    if level.randomness == "same":
        raise RuntimeError("Vmap does not currently support same randomness with a batched tensor input. Please file an issue with functorch")
    if op.name == "multinomial":
        p = given["self"]
        made = op({**given, "self": p.reshape(-1, p.shape[-1])})
        return made.reshape(*p.shape[:-1], made.shape[-1])
    return op(given)


@rule("normal", "bernoulli")
def _of_parameters(level, op, arguments):
    if level.randomness == "error":
        _refuse()
    if level.randomness == "same":
        raise RuntimeError("Vmap does not currently support same randomness with a batched tensor input. Please file an issue with functorch")
    given = aligned(level, arguments)
    tensors = [v for v in given.values() if isinstance(v, _C.Tensor)]
    shape = joint_shape(*(t.shape for t in tensors))
    return op({n: v.expand(shape) if isinstance(v, _C.Tensor) else v for n, v in given.items()})


@_draw("uniform_", "normal_", "random_", "bernoulli_", "exponential_", "geometric_", "cauchy_", "log_normal_")
def _drawn(level, op, arguments):
    if level.randomness == "error":
        _refuse()
    t, p = arguments["self"], arguments.get("p")
    ps = level.front(p) if isinstance(p, _C.Tensor) else None
    value = level.front(t)
    if level.randomness == "different":
        if value is None:
            value = level.write(t)
        if value is None and ps is not None:
            refuse_write(op.name)
        if value is None:
            raise RuntimeError("vmap: Cannot ask for different inplace randomness on an unbatched tensor. This will appear like same randomness. If "
                               "this is necessary for your usage, please file an issue with functorch.")
        op({**arguments, "self": value, **({"p": ranked(ps, t.dim())} if ps is not None else {})})
        return
    if ps is not None:
        raise RuntimeError("Vmap does not currently support same randomness with a batched tensor input. Please file an issue with functorch")
    if value is None:
        op(arguments)
        return
    one = _C.empty(t.shape, dtype=t.dtype, device=t.device)
    op({**arguments, "self": one})
    value.copy_(one)
