"""Autocast and GradScaler; the scaler's trajectory was recorded from PyTorch."""
import math
import pathlib
import pickle
import warnings

import argand as torch
import pytest
from argand.amp import GradScaler, autocast, custom_bwd, custom_fwd
from argand.nn.parameter import Parameter

TRAJECTORY = pathlib.Path(__file__).resolve().parents[2] / "tests" / "data" / "grad_scaler_trajectory.txt"


def recorded():
    """[((scale, growth, backoff, interval), [(gradient, scale, count, parameters)])]"""
    out = []
    for line in TRAJECTORY.read_text().splitlines():
        kind, *words = line.split()
        if kind == "scaler":
            out.append(([*map(float, words[:3]), int(words[3])], []))
        else:
            at = words.index(";")
            numbers = [float(w) for w in words[:at] + words[at + 1:]]
            out[-1][1].append((numbers[:at], numbers[at], int(numbers[at + 1]), numbers[at + 2:]))
    return out


@pytest.mark.parametrize("options,steps", recorded(), ids=lambda v: str(v)[:40])
def test_trajectory(options, steps):
    scaler = GradScaler("cpu", *options)
    params = [Parameter(torch.ones(2)) for _ in range(2)]
    optimizer = torch.optim.SGD(params, lr=0.5, momentum=0.9)
    for number, (gradient, scale, count, after) in enumerate(steps):
        optimizer.zero_grad()
        a, b = torch.tensor(gradient).split(2)
        scaler.scale((params[0] * a).sum() + (params[1] * b).sum()).backward()
        scaler.step(optimizer)
        scaler.update()
        state = scaler.state_dict()
        assert (state["scale"], state["_growth_tracker"]) == (scale, count), f"step {number}"
        values = params[0].tolist() + params[1].tolist()
        assert all(x == y or math.isclose(x, y, rel_tol=1e-6, abs_tol=1e-7) for x, y in zip(values, after)), f"step {number}"
    assert len(steps) == 14


def scaled():
    scaler, p = GradScaler("cpu", init_scale=4.0), Parameter(torch.ones(2))
    return scaler, p, torch.optim.SGD([p], lr=0.5)


def test_unscale_for_clipping():
    scaler, p, optimizer = scaled()
    scaler.scale(p.sum() * 3).backward()
    assert p.grad.tolist() == [12, 12]
    scaler.unscale_(optimizer)
    assert p.grad.tolist() == [3, 3]
    scaler.step(optimizer)
    assert p.tolist() == [-0.5, -0.5]
    scaler.update()
    assert scaler.get_scale() == 4.0


def test_refusals():
    scaler, p, optimizer = scaled()
    for what, call in (("unscale_", lambda: scaler.unscale_(optimizer)), ("step", lambda: scaler.step(optimizer)),
                       ("update", scaler.update)):
        with pytest.raises(AssertionError, match=f"Attempted {what} but _scale is None"):
            call()
    with pytest.raises(ValueError, match="outputs must be a Tensor or an iterable of Tensors"):
        scaler.scale(3)
    scaler.scale(p.sum()).backward()
    scaler.unscale_(optimizer)
    with pytest.raises(RuntimeError, match="already been called on this optimizer since the last update"):
        scaler.unscale_(optimizer)
    with pytest.raises(AssertionError, match="may only be pickled at the beginning of an iteration"):
        pickle.dumps(scaler)
    scaler.step(optimizer)
    with pytest.raises(RuntimeError, match=r"step\(\) has already been called since the last update"):
        scaler.step(optimizer)
    with pytest.raises(RuntimeError, match=r"unscale_\(\) is being called after step\(\)"):
        scaler.unscale_(optimizer)
    scaler.update()
    with pytest.raises(AssertionError, match="No inf checks were recorded prior to update"):
        scaler.update()
    p.grad = None
    with pytest.raises(AssertionError, match="No inf checks were recorded for this optimizer"):
        scaler.step(optimizer)
    with pytest.raises(RuntimeError, match="Closure use is not currently supported"):
        scaler.step(optimizer, closure=lambda: 1)
    with pytest.raises(AssertionError, match="The growth factor must be > 1.0."):
        GradScaler("cpu", growth_factor=1.0)
    half = Parameter(torch.ones(2, dtype=torch.float16))
    half.grad = torch.ones(2, dtype=torch.float16)
    with pytest.raises(ValueError, match="Attempting to unscale FP16 gradients."):
        scaler.unscale_(torch.optim.SGD([half], lr=0.1))


def test_scale_keeps_structure():
    scaler = GradScaler("cpu", init_scale=2.0)
    a, (b,) = scaler.scale([torch.ones(1), (torch.full((1,), 3.0),)])
    assert a.item() == 2 and b.item() == 6


def test_state_dict_and_pickle():
    scaler, p, optimizer = scaled()
    scaler.scale(p.sum()).backward()
    scaler.step(optimizer)
    scaler.update()
    state = scaler.state_dict()
    assert state == {"scale": 4.0, "growth_factor": 2.0, "backoff_factor": 0.5, "growth_interval": 2000, "_growth_tracker": 1}
    other = GradScaler("cpu")
    other.load_state_dict(state)
    assert other.state_dict() == state == pickle.loads(pickle.dumps(scaler)).state_dict()
    with pytest.raises(RuntimeError, match="The source state dict is empty"):
        other.load_state_dict({})
    scaler.update(8.0)
    assert scaler.get_scale() == 8.0
    scaler.update(torch.tensor([16.0]))
    assert scaler.get_scale() == 16.0


def test_disabled():
    scaler, p = GradScaler("cpu", enabled=False), Parameter(torch.ones(2))
    optimizer = torch.optim.SGD([p], lr=0.5)
    loss = p.sum()
    assert scaler.scale(loss) is loss and scaler.get_scale() == 1.0 and scaler.state_dict() == {}
    loss.backward()
    scaler.unscale_(optimizer)
    scaler.step(optimizer)
    scaler.update()
    assert p.tolist() == [0.5, 0.5]


# ---- autocast


def product():
    return torch.ones(2, 3) @ torch.ones(3, 2)


def test_autocast_scope():
    assert product().dtype is torch.float32
    with autocast("cpu"):
        assert product().dtype is torch.bfloat16 and torch.is_autocast_enabled("cpu")
        with autocast("cpu", enabled=False):
            assert product().dtype is torch.float32
        with torch.autocast("cpu", dtype=torch.float16):
            assert product().dtype is torch.float16 and torch.get_autocast_dtype("cpu") is torch.float16
        assert product().dtype is torch.bfloat16
    assert product().dtype is torch.float32 and not torch.is_autocast_enabled("cpu")
    with pytest.raises(KeyError):
        with autocast("cpu"):
            raise KeyError
    assert not torch.is_autocast_enabled("cpu")


def test_autocast_decorates():
    @autocast("cpu", dtype=torch.float16)
    def compute(depth):
        return compute(depth - 1) if depth else product().dtype
    assert compute(2) is torch.float16 and product().dtype is torch.float32


def test_autocast_refusals():
    with pytest.raises(ValueError, match="Expected `device_type` of type `str`, got: `<class 'int'>`"):
        autocast(3)
    with pytest.raises(RuntimeError):
        autocast("nowhere")
    with pytest.warns(UserWarning, match="In CPU autocast, but the target dtype is not supported"):
        with autocast("cpu", dtype=torch.float32):
            assert product().dtype is torch.float32


def test_gradients_through_autocast():
    w = Parameter(torch.ones(3, 2))
    with autocast("cpu"):
        loss = (torch.ones(2, 3) @ w).float().sum()
    loss.backward()
    assert w.grad.dtype is torch.float32 and w.grad.tolist() == [[2, 2]] * 3


def test_custom_functions():
    seen = []

    class Cast(torch.autograd.Function):
        @staticmethod
        @custom_fwd(device_type="cpu", cast_inputs=torch.float32)
        def forward(ctx, x):
            seen.append((x.dtype, torch.is_autocast_enabled("cpu")))
            return x * 2

        @staticmethod
        @custom_bwd(device_type="cpu")
        def backward(ctx, grad):
            seen.append(torch.is_autocast_enabled("cpu"))
            return grad * 2

    class Kept(torch.autograd.Function):
        @staticmethod
        @custom_fwd(device_type="cpu")
        def forward(ctx, x):
            seen.append(torch.is_autocast_enabled("cpu"))
            return x * 2

        @staticmethod
        @custom_bwd(device_type="cpu")
        def backward(ctx, grad):
            seen.append(torch.is_autocast_enabled("cpu"))
            return grad * 2
    x = torch.ones(2, dtype=torch.bfloat16, requires_grad=True)
    with autocast("cpu"):
        y = Cast.apply(x)
    y.sum().backward()
    assert seen == [(torch.float32, False), False]
    seen.clear()
    with autocast("cpu"):
        z = Kept.apply(x)
    z.sum().backward()
    assert seen == [True, True]


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_without_a_gpu():
    with pytest.warns(UserWarning, match="Disabling"):
        assert not torch.cuda.amp.GradScaler().is_enabled()
    with pytest.warns(UserWarning, match="Disabling"):
        with torch.cuda.amp.autocast():
            assert not torch.is_autocast_enabled("cuda")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        GradScaler("cuda", enabled=False)


def test_devices_that_are_not_here():
    assert not torch.is_autocast_enabled("mps")
    with torch.autocast("mps"):
        assert torch.is_autocast_enabled("mps") and torch.get_autocast_dtype("mps") is torch.float16
        with torch.autocast("mps", dtype=torch.bfloat16):
            assert torch.get_autocast_dtype("mps") is torch.bfloat16
        assert torch.get_autocast_dtype("mps") is torch.float16 and not torch.is_autocast_enabled("cpu")
        assert (torch.ones(1, 1) @ torch.ones(1, 1)).dtype is torch.float32
    assert not torch.is_autocast_enabled("mps")


def test_optimizers_that_unscale_gradients_themselves():
    class Optimizer(torch.optim.Optimizer):
        _step_supports_amp_scaling = True

        def __init__(self, params):
            super().__init__(params, {})
            self.seen = []

    class Old(Optimizer):
        def step(self, closure=None, *, grad_scaler=None):
            self.seen.append((grad_scaler, hasattr(self, "grad_scale")))

    class New(Optimizer):
        def step(self, closure=None):
            self.seen.append((self.grad_scale and self.grad_scale.item(), self.found_inf.item(), self.param_groups[0]["params"][0].grad.item()))

    p = torch.nn.Parameter(torch.ones(1))
    scaler = torch.amp.GradScaler("cpu", init_scale=4.0)
    scaler.scale(p.sum()).backward()
    old, new = Old([p]), New([p])
    with pytest.warns(FutureWarning, match="stop passing itself as a keyword argument"):
        scaler.step(old)
    assert old.seen == [(scaler, False)]
    scaler.step(new)
    assert new.seen == [(4.0, 0.0, 4.0)] and not hasattr(new, "grad_scale") and not hasattr(new, "found_inf")
    scaler.update()
    scaler.unscale_(new)
    p.grad.fill_(float("inf"))
    scaler.step(new)
    assert new.seen[1][:2] == (None, 0.0)
    scaler.update()
    scaler.step(new)
    assert new.seen[2][:2] == (4.0, 1.0)
    scaler.update()
    assert scaler.get_scale() == 2.0


def test_names_of_cuda_alone_are_deprecated():
    for name in ("custom_fwd", "custom_bwd"):
        with pytest.warns(FutureWarning, match=rf"`torch.cuda.amp.{name}\(args...\)` is deprecated"):
            getattr(torch.cuda.amp, name)(lambda ctx: None)


def test_what_is_on_no_list_of_the_cpu_is_computed_as_given():
    a, v, w = torch.full((3, 3), 1 + 2**-10), torch.full((3,), 1 + 2**-10), torch.ones(2, 3, 3)
    image = torch.ones(1, 1, 4, 4, dtype=torch.float16)
    exact = torch.nn.functional.bilinear(a, a, w)
    with autocast("cpu", dtype=torch.bfloat16):
        assert torch.inner(v, v).dtype is torch.tensordot(a, a, 2).dtype is torch.float32
        assert torch.inner(a, a).dtype is torch.tensordot(a, a, 1).dtype is torch.bfloat16
        assert torch.equal(torch.nn.functional.bilinear(a, a, w), exact)  # not a digit was rounded
        half = [t.half() for t in (a, a, w)]
        assert torch.nn.functional.bilinear(*half).dtype is torch.float16
        for mode, dtype in (("constant", torch.float16), ("circular", torch.float16), ("reflect", torch.float32), ("replicate", torch.float32)):
            assert torch.nn.functional.pad(image, (1, 1, 1, 1), mode=mode).dtype is dtype
        assert torch.block_diag(image[0, 0], image[0, 0]).dtype is torch.float16


def test_cross_promotes_on_a_gpu_alone():
    """As PyTorch's lists say."""
    half, single = torch.ones(2, 3, dtype=torch.bfloat16), torch.ones(2, 3)
    with autocast("cpu", dtype=torch.float16):
        assert torch.cross(half, half, dim=1).dtype is torch.linalg.cross(half, half).dtype is torch.bfloat16
        assert torch.cross(single, single, dim=1).dtype is torch.float32
