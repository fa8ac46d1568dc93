"""Functions of torch and methods of tensors that few programs ask for, against numbers of PyTorch's or by hand."""
import importlib
import math
import os
import subprocess
import sys
import warnings

import argand as torch
import pytest
from argand._torch._utils import _rebuild_tensor_v2

ROUNDED = torch.tensor([-3.0, -0.25, 0.05, 0.15, 0.45, 2.0])


@pytest.mark.parametrize("scale, zero_point, low, high, values, inside", [
    (0.1, 0, -8, 7, [-0.8, -0.2, 0.0, 0.2, 0.4, 0.7], [0, 1, 1, 1, 1, 0]),  # halves go to even steps, in float32
    (0.5, 2, 0, 5, [-1.0, 0.0, 0.0, 0.0, 0.5, 1.5], [0, 1, 1, 1, 1, 0])])
def test_numbers_rounded_as_quantized_ones(scale, zero_point, low, high, values, inside):
    x = ROUNDED.clone().requires_grad_()
    y = torch.fake_quantize_per_tensor_affine(x, scale, zero_point, low, high)
    torch.testing.assert_close(y, torch.tensor(values))
    assert torch.autograd.grad(y.sum(), x)[0].tolist() == inside
    twice = torch.stack([x, x], 1)
    of_channels = torch.fake_quantize_per_channel_affine(twice, torch.tensor([scale, 1.0]), torch.tensor([zero_point, 0]), 1, low, high)
    assert of_channels[:, 0].equal(y)
    with pytest.raises(RuntimeError, match="less than or equal"):
        torch.fake_quantize_per_tensor_affine(x, scale, zero_point, 8, 7)
    with pytest.raises(RuntimeError, match="`zero_point` must be between"):
        torch.fake_quantize_per_tensor_affine(x, scale, 99, low, high)
    with pytest.raises(RuntimeError, match="expected scale and zero_point of 2"):
        torch.fake_quantize_per_channel_affine(twice, torch.ones(3), torch.zeros(3), 1, low, high)


def test_sequences_and_slices():
    x, weight, bias = torch.arange(24.0).view(4, 2, 3), torch.arange(18.0).view(2, 3, 3), torch.tensor([1.0, 2.0, 3.0])
    expected = bias + torch.stack([x[t] @ weight[0] + x[t + 1] @ weight[1] for t in range(3)])
    assert torch.conv_tbc(x, weight, bias).equal(expected)
    assert torch.nn.functional.conv_tbc(x, weight, bias, 1)[1:-1].equal(expected)
    image, kernel = torch.arange(16.0).view(1, 1, 4, 4), torch.ones(1, 1, 2, 2)
    assert torch.convolution(image, kernel, None, [2], [0], [1], False, [0], 1).flatten().tolist() == [10, 18, 42, 50]
    assert torch.convolution(image, kernel, None, [2, 2], [0], [1], True, [1], 1).equal(
        torch.nn.functional.conv_transpose2d(image, kernel, None, 2, 0, 1))
    assert torch.norm_except_dim(x, 2, 1).flatten().tolist() == pytest.approx([part.norm().item() for part in x.unbind(1)])
    assert torch.norm_except_dim(x, 1, -1).item() == x.sum().item()
    assert torch.native_channel_shuffle(torch.arange(4.0).view(1, 4, 1), 2).flatten().tolist() == [0, 2, 1, 3]


def test_control_flow_and_sizes():
    assert torch.cond(torch.tensor(False), None, lambda x: x - 1, (torch.ones(1),)).item() == 0
    i, x = torch.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x * 2), (torch.tensor(0), torch.ones(1)))
    assert i.item() == 3 and x.item() == 8
    assert type(torch.sym_max(3, 2.0)) is float and torch.sym_min(1, 2) == 1 and torch.sym_int(-2.7) == -2 and torch.sym_float(1) == 1
    assert torch.sym_sum([1, 2]) == torch.sym_sum(1, 2) == 3 and torch.sym_not(0) and torch.sym_ite(False, 1, 2) == torch.sym_sqrt(4) == 2


def test_methods_in_place():
    assert torch.ones(3).addmv_(torch.ones(3, 2), torch.ones(2), alpha=2).tolist() == [5, 5, 5]
    assert torch.addmv_(torch.ones(1), torch.ones(1, 1), torch.ones(1)).item() == 2
    assert torch.ones(2, 1).addr_(torch.ones(2), torch.ones(1)).tolist() == [[2], [2]]
    assert torch.ones(1).polygamma_(1).item() == torch.ones(1).polygamma(1).item() == pytest.approx(math.pi ** 2 / 6)
    assert torch.full((1,), 2.0).mvlgamma_(2).item() == pytest.approx(math.log(math.pi / 2))  # sqrt(pi) gamma(2) gamma(3 / 2)
    with pytest.raises(RuntimeError, match="float_power_.* dtype Float but the operation's result requires dtype Double"):
        torch.ones(1).float_power_(2)
    assert torch.tensor([3.0]).__rdiv__(6).item() == 2


def test_storages_of_dtypes():
    storage = torch.FloatStorage([1, 2])
    assert storage.tolist() == [1, 2] and isinstance(torch.ones(1).storage(), torch.FloatStorage)
    assert not isinstance(torch.ones(1).storage(), (torch.DoubleStorage, torch.cuda.FloatStorage))
    assert len(torch.BFloat16Storage(3)) == 3 and torch.ComplexDoubleStorage.dtype is torch.complex128


def test_settings():
    torch.set_autocast_cpu_enabled(True)
    assert torch.is_autocast_cpu_enabled() and torch.is_autocast_enabled("cpu")
    torch.set_autocast_cpu_enabled(False)
    torch.set_anomaly_enabled(True)
    assert torch.is_anomaly_enabled()
    torch.set_anomaly_enabled(False)
    assert not torch.is_anomaly_check_nan_enabled() and not torch.is_warn_always_enabled()
    with pytest.raises(RuntimeError, match="bool"):
        torch.set_warn_always(1)
    assert torch.get_device_module("cuda:0") is torch.cuda and torch.get_device_module(torch.device("cpu")) is torch.cpu
    with pytest.raises(RuntimeError, match="does not have a corresponding module"):
        torch.get_device_module("meta")


def test_facts():
    x = torch.ones(1)
    assert not (x.is_xla or x.is_ipu or x.is_vulkan or x.is_mtia or x.is_maia or x.is_sparse_csr or x.is_distributed())
    assert repr(torch.per_tensor_affine) == "torch.per_tensor_affine" and isinstance(torch.per_channel_symmetric, torch.qscheme)
    assert torch.Tag.core is not torch.Tag.pointwise and not torch.has_mps and torch.has_lapack
    assert torch.has_cuda == torch.backends.cuda.is_built() and not torch.is_vulkan_available()
    assert not hasattr(x, "__cuda_array_interface__")
    assert str(torch.strided) == "torch.strided" and f"{torch.channels_last!r}" == "torch.channels_last"
    from argand.multiprocessing.spawn import ProcessRaisedException
    assert torch.multiprocessing.ProcessRaisedException is ProcessRaisedException and torch.multiprocessing.spawn.__name__ == "spawn"


@pytest.mark.parametrize("dims, options", [
    (1, {"stride": 2}), (1, {"padding": 1}), (2, {"padding": (1, 0), "dilation": (1, 2)}), (2, {"groups": 2, "stride": (2, 1)}), (3, {})])
def test_gradients_of_convolutions(dims, options):
    torch.manual_seed(0)
    x = torch.randn(2, 4, *[6] * dims, dtype=torch.float64, requires_grad=True)
    weight = torch.randn(4, 4 // options.get("groups", 1), *[2] * dims, dtype=torch.float64, requires_grad=True)
    y = getattr(torch.nn.functional, f"conv{dims}d")(x, weight, **options)
    g = torch.randn_like(y)
    of_x, of_weight = torch.autograd.grad(y, (x, weight), g)
    of_input, of_kernel = (getattr(torch.nn.grad, f"conv{dims}d_{what}") for what in ("input", "weight"))
    torch.testing.assert_close(of_input(x.shape, weight.detach(), g, **options), of_x)
    torch.testing.assert_close(of_kernel(x.detach(), weight.shape, g, **options), of_weight)
    assert of_input(x.shape, weight, g, **options).requires_grad and not of_input(x.shape, weight.detach(), g, **options).requires_grad
    with pytest.raises(RuntimeError, match="expected grad_output of shape"):
        of_kernel(x, weight.shape, g[..., 1:], **options)


@pytest.mark.parametrize("options", [
    {}, {"reduction": "none", "ignore_index": 1}, {"label_smoothing": 0.1, "weight": torch.arange(1.0, 4)}])
def test_cross_entropy_of_a_linear(options):
    x, target = torch.arange(8.0).view(4, 2), torch.tensor([[0, 2], [1, 1], [2, 0], [0, 0]])
    loss = torch.nn.LinearCrossEntropyLoss(2, 3, out_features=(2,), bias=True, **options)
    scores = loss.linear(x).view(4, 3, 2)
    torch.testing.assert_close(loss(x, target), torch.nn.functional.cross_entropy(scores, target, **options))
    assert set(loss.state_dict()) - {"weight"} == {"linear.weight", "linear.bias"} and loss.linear.weight.shape == (6, 2)
    in_parts = torch.nn.LinearCrossEntropyLoss(2, 3, options=torch.nn.LinearCrossEntropyOptions(batch_chunk_size=2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", torch.IgnoredArgument)
        assert in_parts(x, target[:, 0]).dim() == 0


def test_tensors_sent_to_devices():
    comm = importlib.import_module("argand.cuda.comm")
    assert [t.tolist() for t in comm.broadcast(torch.ones(1), ["cpu", "cpu"])] == [[1], [1]]
    assert comm.broadcast_coalesced([torch.ones(1)], ["cpu"])[0][0].item() == 1
    assert comm.broadcast(torch.ones(1), out=[torch.zeros(1)])[0].item() == 1
    assert [t.tolist() for t in comm.reduce_add_coalesced([[torch.ones(2), torch.ones(1)]] * 3)] == [[3, 3], [3]]
    assert [t.tolist() for t in comm.scatter(torch.arange(5), ["cpu"] * 2, [2, 3])] == [[0, 1], [2, 3, 4]]
    assert [t.tolist() for t in comm.scatter(torch.arange(3.0), out=[torch.empty(1), torch.empty(2)])] == [[0], [1, 2]]
    assert comm.gather([torch.ones(1, 1), torch.zeros(1, 1)], 1, "cpu").tolist() == [[1, 0]]
    with pytest.raises(ValueError, match="of one shape"):
        comm.reduce_add([torch.ones(1), torch.ones(2)])
    with pytest.raises(RuntimeError, match="one of 'devices' and 'out'"):
        comm.broadcast(torch.ones(1))


def test_optimizers_written_after_others():
    from argand.optim.optimizer import (ParamsT, _default_to_fused_or_foreach, _get_value, _stack_if_compiling,  # noqa: F401
                                        _to_scalar, _use_grad_for_differentiable, _view_as_real)

    class Descent(torch.optim.Optimizer):
        def __init__(self, params: ParamsT, lr, differentiable=False):
            super().__init__(params, {"lr": lr, "differentiable": differentiable})

        @_use_grad_for_differentiable
        def step(self):
            self.recorded = torch.is_grad_enabled()
            params = self.param_groups[0]["params"]
            for (device, dtype), ((ps, grads), places) in self._group_tensors_by_device_and_dtype(
                    [params, [p.grad for p in params]], with_indices=True).items():
                assert all(params[i] is p and p.dtype is dtype for i, p in zip(places, ps)) and device.type == "cpu"
                assert _default_to_fused_or_foreach(ps, False) == (False, False)
                torch._foreach_add_(ps, grads, alpha=-self.param_groups[0]["lr"])
    params = [torch.ones(2, dtype=d, requires_grad=True) for d in (torch.float32, torch.float64, torch.float32)]
    descent = Descent(params, 0.5)
    sum(p.sum() for p in params).backward()
    descent.step()
    assert all(p.tolist() == [0.5, 0.5] for p in params) and not descent.recorded
    assert _get_value(torch.tensor(2.0)) == _get_value(2) == 2 and _to_scalar(torch.ones(1)).dim() == 0
    complexes, grads = [torch.ones(1, dtype=torch.complex64), torch.ones(1)], [torch.ones(1, dtype=torch.complex64), torch.ones(1)]
    _view_as_real(complexes, grads, [])
    assert [t.shape for t in complexes + grads] == [(1, 2), (1,)] * 2


def test_causal_masks():
    from argand.nn.attention import bias
    q, k, v = torch.randn(1, 2, 3), torch.randn(1, 4, 3), torch.randn(1, 4, 3)
    attention = torch.nn.functional.scaled_dot_product_attention
    for mask, shift in ((bias.causal_upper_left(2, 4), 0), (bias.causal_lower_right(2, 4), 2)):
        plain = torch.ones(2, 4, dtype=torch.bool).tril(shift)
        assert type(mask) is bias.CausalBias and mask.shape == (2, 4) and (mask & plain).equal(plain)
        assert attention(q, k, v, attn_mask=mask).equal(attention(q, k, v, plain))
    with pytest.raises(AssertionError, match="variant should be a CausalVariant"):
        bias.CausalBias(1, 2, 4)


def test_internals_by_name():
    from argand._torch import _jit_internal, _VF
    assert _VF.gru_cell is torch.gru_cell
    choose = _jit_internal.boolean_dispatch("on", 1, False, lambda x, on=False: x + 1, lambda x, on=False: x - 1, "m", "choose")
    assert (choose(1), choose(1, True), choose(1, on=True), choose.__name__) == (0, 2, 2, "choose")
    functions = importlib.import_module("argand.nn.parallel._functions")
    x = torch.ones(2, requires_grad=True)
    assert len(functions.Broadcast.apply(["cpu", "cpu"], x, x)) == 4
    parts = functions.Scatter.apply(["cpu", "cpu"], None, 0, x)
    functions.Gather.apply("cpu", 0, *parts, x.sum()).sum().backward()
    assert x.grad.tolist() == [2, 2]
    assert functions.ReduceAddCoalesced.apply("cpu", 1, torch.ones(1), torch.ones(1))[0].item() == 2
    assert torch.nn.init._no_grad_fill_(torch.empty(1), 3).item() == 3


def test_the_cpu_as_a_device():
    with torch.cpu.stream(torch.cpu.current_stream()), torch.cpu.amp.autocast():
        assert (torch.ones(1, 1) @ torch.ones(1, 1)).dtype is torch.bfloat16
    assert torch.cpu.Stream().record_event().query() and torch.cpu.is_initialized() and not torch.mtia.is_available()
    if not torch.cuda.is_available():
        assert torch.accelerator.memory_allocated() == 0 and torch.accelerator.memory_stats() == {}
        torch.accelerator.reset_peak_memory_stats()
        with torch.accelerator.device_index(None):
            pass
        with pytest.raises(RuntimeError):
            torch.cuda.profiler.start()


def test_switches():
    from argand.backends import cuda
    from argand.nn.attention import SDPBackend, _cur_sdpa_kernel_backends
    with pytest.warns(FutureWarning, match="deprecated"):
        scope = cuda.sdp_kernel(enable_math=False, enable_cudnn=False)
    with scope:
        assert set(_cur_sdpa_kernel_backends()) == {SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION}
    assert cuda.preferred_linalg_library() == "default"
    with pytest.raises(RuntimeError, match="Choose from: default, cusolver, magma"):
        cuda.preferred_linalg_library("lapack")
    future = importlib.import_module("argand.__future__")
    assert future.get_swap_module_params_on_conversion() is False and future.get_overwrite_module_params_on_conversion() is False
    with torch.utils.checkpoint.set_checkpoint_early_stop(False), torch.jit.fuser("fuser2"):
        assert torch.utils.deterministic.fill_uninitialized_memory


def test_places_of_names():
    """Where programs import them from."""
    for module, names in {"autograd.variable": ["Variable"], "cuda.amp.grad_scaler": ["GradScaler", "OptState"],
                          "cuda.amp.autocast_mode": ["autocast", "custom_fwd"], "cuda.amp.common": ["amp_definitely_not_available"],
                          "functional": [*torch.functional.__all__, "F"], "optim.optimizer": ["ParamsT"],
                          "nn.functional": ["_canonical_mask", "_in_projection_packed", "_mha_shape_check", "_none_or_dtype"],
                          "utils.data.dataloader": ["get_worker_info"], "autograd.function": ["InplaceFunction"]}.items():
        assert not [n for n in names if not hasattr(importlib.import_module("argand." + module), n)]
    assert torch.functional.einsum is torch.einsum and torch.functional.norm is torch.norm
    whole = torch.arange(6.0)
    part = _rebuild_tensor_v2(whole.storage(), 1, (2, 2), (2, 1), True, {})
    assert part.tolist() == [[1, 2], [3, 4]] and part.requires_grad and part.data_ptr() == whole[1:].data_ptr()


@pytest.mark.parametrize("name", ["sparse_coo_tensor", "quantize_per_tensor"])
def test_what_is_not_there(name):
    with pytest.raises(NotImplementedError, match=name):
        getattr(torch, name)()


@pytest.mark.parametrize("check, error", [(torch._check, RuntimeError), (torch._check_index, IndexError), (torch._check_value, ValueError),
                                          (torch._check_type, TypeError)])
def test_checks(check, error):
    check(True)
    with pytest.raises(error, match="^why$"):
        check(False, lambda: "why")
    with pytest.raises(TypeError, match="cond must be a bool"):
        check(1)


def test_checks_of_tensors_and_sizes():
    torch._check_is_size(3, max=3)
    torch._check_tensor_all(torch.tensor([True, True]))
    torch._assert_async(torch.tensor(1))
    for fails in (lambda: torch._check_is_size(-1), lambda: torch._check_is_size(4, max=3), lambda: torch._assert_async(torch.tensor(0)),
                  lambda: torch._check_tensor_all(torch.tensor([True, False]))):
        with pytest.raises(RuntimeError):
            fails()
    assert torch._shape_as_tensor(torch.ones(2, 3)).tolist() == [2, 3]


def test_a_subclass_is_made():
    class Own(torch.Tensor):
        pass
    x = torch.Tensor._make_subclass(Own, torch.ones(2), True)
    assert type(x) is Own and x.requires_grad and x.is_leaf


def test_memory_of_a_gpu_for_others(tmp_path):
    """On the pretended GPU."""
    script = tmp_path / "script.py"
    script.write_text("import torch\n"
                      "if not torch.cuda.is_available(): raise SystemExit('no CUDA here')\n"
                      "x = torch.ones(2, 3, device='cuda')\n"
                      "for t in (x, x.t()):\n"
                      "    d = t.__cuda_array_interface__\n"
                      "    print(d['shape'], d['strides'], d['typestr'], d['version'], d['data'] == (x.data_ptr(), False))\n"
                      "try: x.requires_grad_().__cuda_array_interface__\n"
                      "except RuntimeError as e: print(e)\n")
    out = subprocess.run([sys.executable, "-m", "argand", str(script)], capture_output=True, text=True, timeout=300,
                         env={**os.environ, "ARGAND_CUDA_DRY_RUN": "1"})
    if "no CUDA here" in out.stderr:
        pytest.skip("built without CUDA")
    assert out.stdout.splitlines() == [
        "(2, 3) None <f4 2 True", "(3, 2) (4, 12) <f4 2 True",
        "Can't get __cuda_array_interface__ on Variable that requires grad. Use var.detach() first."], out.stderr


@pytest.mark.parametrize("dimension, seed, skipped, expected", [  # the last coordinates of points as PyTorch draws them, times 2^30
    (3, None, 0, [[0, 0, 0], [536870912, 536870912, 536870912], [805306368, 268435456, 268435456]]),
    (3, None, 5, [[939524096, 939524096, 134217728], [671088640, 134217728, 939524096]]),
    (2, 0, 0, [[510142464, 636217792], [621442404, 39859380], [1020774014, 925934870]]),
    (21201, None, 1000, [[982515712, 1016070144, 89128960], [445644800, 479199232, 625999872]]),
    (1111, 7, 3, [[922232178, 111793461, 660061813]])])
def test_sobol_points(dimension, seed, skipped, expected):
    engine = torch.quasirandom.SobolEngine(dimension, scramble=seed is not None, seed=seed).fast_forward(skipped)
    points = engine.draw(len(expected), dtype=torch.float64)
    assert (points * 2 ** 30).to(torch.int64)[:, -3:].tolist() == expected
    assert engine.num_generated == skipped + len(expected) and engine.quasi[-3:].tolist() == expected[-1]
    engine.reset()
    assert engine.draw(skipped + len(expected), dtype=torch.float64)[skipped:].equal(points)


def test_sobol_engines():
    engine = torch.quasirandom.SobolEngine(5, True, 3)
    assert repr(engine) == "SobolEngine(dimension=5, scramble=True, seed=3)" and engine.sobolstate.sum().item() == 84313547874
    assert torch.quasirandom.SobolEngine.MAXDIM == 21201
    assert torch.quasirandom.SobolEngine(21201).sobolstate.sum().item() == 341565579072477
    out = torch.empty(0)
    assert engine.draw(3, out=out) is out and out.shape == (3, 5) and out.dtype is torch.float32
    # Every interval of a power of 2 has its share of a power of 2 points.
    counts = (torch.quasirandom.SobolEngine(4, True, 1).draw_base2(6) * 64).long().T.sort().values
    assert counts.equal(torch.arange(64).expand(4, 64))
    with pytest.raises(ValueError, match="balance properties"):
        engine.draw_base2(3)
    for wrong in (0, 21202):
        with pytest.raises(ValueError, match="Supported range of dimensionality"):
            torch.quasirandom.SobolEngine(wrong)
    with pytest.raises(ValueError, match="at most 1073741824 points"):
        engine.draw(2 ** 30)
    with pytest.raises(ValueError, match="non-negative"):
        engine.fast_forward(-1)
    with pytest.raises(NotImplementedError, match="float16"):
        engine.draw(dtype=torch.float16)


def test_samples_of_categories_into_a_tensor():
    weights, out = torch.tensor([0.1, 0.9]), torch.empty(2, dtype=torch.int64)
    torch.manual_seed(0)
    assert torch.multinomial(weights, 2, replacement=True, out=out) is out and set(out.tolist()) <= {0, 1}
    torch.manual_seed(0)
    assert torch.multinomial(weights, 2, replacement=True, generator=None, out=None).equal(out)


def test_triangles_of_matrices_that_no_memory_would_hold():
    big = 2 ** 40
    assert torch.tril_indices(4, big).tolist() == torch.tril_indices(4, 4).tolist()
    assert torch.triu_indices(3, big, big - 2).tolist() == [[0, 0, 1], [big - 2, big - 1, big - 1]]
    assert torch.tril_indices(big, 0).shape == torch.triu_indices(big, 3, 2 * big).shape == torch.tril_indices(3, 3, -2 ** 63).shape == (2, 0)
    assert torch.tril_indices(3, 3, 2 ** 63 - 1).shape == torch.triu_indices(3, 3, -2 ** 63).shape == (2, 9)
    assert torch.tril_indices(2 ** 20, 2 ** 20, device="meta").shape == (2, 2 ** 19 * (2 ** 20 + 1))
    with pytest.raises(ValueError, match="tril_indices: the triangle of a .* matrix has more positions than fit a tensor"):
        torch.tril_indices(2 ** 62, 2 ** 62)
    for rows, columns, offset in [(r, c, o) for r in range(5) for c in range(5) for o in range(-6, 7)]:
        for indices, kept in ((torch.tril_indices, lambda d: d <= offset), (torch.triu_indices, lambda d: d >= offset)):
            expected = [[i, j] for i in range(rows) for j in range(columns) if kept(j - i)]
            assert indices(rows, columns, offset).T.tolist() == expected
