"""What docs/python.md says of the library.  Longer statements have tests of their own beside what they are about."""
import importlib
import inspect
import re

import argand as torch
import numpy as np
import pytest
from argand import nn
from argand._surface import naming
from statements import run, text_of, words
from statements import says as of_page


def says(*sentences):
    return of_page("docs/python.md", *sentences)


def gaussian(*sizes, seed=0):
    return torch.randn(*sizes, generator=torch.Generator().manual_seed(seed))


@says("It needs no NumPy; `numpy()` and `from_numpy` use the one that is there.")
def test_it_needs_no_numpy():
    assert run("sys.modules['numpy'] = None\nimport torch\nprint(torch.ones(2).add(1).tolist())") == "[2.0, 2.0]"


@says("`pip install .` in a clone builds the package (CPython 3.10 or newer;")
def test_the_oldest_python():
    assert 'requires-python = ">=3.10"' in text_of("pyproject.toml")


@says("**Every op is deterministic.** `use_deterministic_algorithms` changes one thing only, as in PyTorch: uninitialised tensors, such as "
      "those of `empty` and `resize_`, are filled")
def test_determinism_is_no_switch():
    x, index = gaussian(1000, 8), torch.arange(1000) % 7
    results = []
    for on in (False, True):
        torch.use_deterministic_algorithms(on)
        results.append(torch.zeros(7, 8).index_add(0, index, x))
        assert torch.are_deterministic_algorithms_enabled() == on
    assert torch.empty(3).isnan().all()
    torch.use_deterministic_algorithms(False)
    assert torch.equal(*results)


@says("The same holds for `//`, `%`, `remainder`, `fmod`, `maximum` and `minimum`: the exact result is turned into `uint8`, not the number.")
def test_bytes_and_numbers_that_are_no_bytes():
    x = [0, 1, 5, 200, 255]
    bytes_ = torch.tensor(x, dtype=torch.uint8)
    assert (bytes_ < -1).tolist() == [False] * 5
    for number in (-3, -1, 300):
        for got, exact in ((bytes_ // number, [a // number for a in x]), (bytes_ % number, [a % number for a in x]),
                           (bytes_.remainder(number), [a % number for a in x]),
                           (bytes_.fmod(number), [int(np.fmod(a, number)) for a in x]),
                           (torch.maximum(bytes_, torch.tensor(number)), [max(a, number) for a in x]),
                           (torch.minimum(bytes_, torch.tensor(number)), [min(a, number) for a in x])):
            assert got.dtype == torch.uint8 and got.tolist() == [a % 256 for a in exact], number


@says("As in PyTorch, a module is wrapped (`_orig_mod.` in its state dict)",
      "`is_compiling()` is true while such a graph is made.",
      "If there is no single graph, a warning says so and the program runs as it is; with `fullgraph=True` it is an error.",
      "**A backend of your own** is called with the `fx.GraphModule` that `torch.fx` finds")
def test_compile():
    assert list(torch.compile(nn.Linear(2, 1)).state_dict()) == ["_orig_mod.weight", "_orig_mod.bias"]
    seen = []

    def backend(graph, inputs):
        seen.append(type(graph))
        return graph.forward

    def f(x):
        return x + (1 if torch.compiler.is_compiling() else 5)

    assert torch.compile(f, backend=backend)(torch.ones(2)).tolist() == [2, 2]
    assert issubclass(seen[-1], torch.fx.GraphModule) and not torch.compiler.is_compiling()

    def branches(x):
        return x + 1 if x.sum() > 0 else x - 1

    with pytest.warns(UserWarning):
        assert torch.compile(branches, backend=backend)(torch.ones(2)).tolist() == [2, 2]
    with pytest.raises(Exception):
        torch.compile(branches, backend=backend, fullgraph=True)(torch.ones(2))


@says("**TF32** is as in PyTorch: convolutions of float32 use it on a GPU, products do not")
def test_tf32():
    assert torch.backends.cudnn.allow_tf32 is True and torch.get_float32_matmul_precision() == "highest"


@says("Recurrent networks follow `torch.backends.cuda.matmul`.", "here both show what holds.")
def test_settings_of_precision():
    torch.backends.cuda.matmul.fp32_precision = "tf32"
    assert torch.backends.cuda.matmul.allow_tf32 and torch.backends.cudnn.rnn.fp32_precision == "tf32"
    torch.backends.cuda.matmul.fp32_precision = "none"
    assert not torch.backends.cuda.matmul.allow_tf32


@says("`x < -1` is `False` for all values of `uint8`.", "**The gradient of `logsumexp` where all values are -inf is 0.**",
      "**`ctc_loss` refuses targets that are no classes.**",
      "**`torch.kl_div` and the other losses of `torch` have the mean as their default**")
def test_differences_that_are_meant():
    assert not (torch.tensor([0, 255], dtype=torch.uint8) < -1).any()
    x = torch.full((2,), -torch.inf, requires_grad=True)
    x.logsumexp(0).backward()
    assert x.grad.tolist() == [0, 0]
    with pytest.raises(IndexError, match=r"targets in \[0, 2\), got 5"):
        nn.functional.ctc_loss(torch.zeros(3, 1, 2).log_softmax(-1), torch.tensor([[5]]), torch.tensor([3]), torch.tensor([1]))
    a, b = torch.zeros(2), torch.ones(2)
    for loss in (torch.kl_div, torch.hinge_embedding_loss, torch.binary_cross_entropy_with_logits):
        assert loss(a, b).dim() == 0


@says("backward raises a `GradError`. PyTorch does not see the write")
def test_data_counts_writes():
    w = torch.ones(2, requires_grad=True)
    loss = (w * w).sum()
    w.data.mul_(3)
    with pytest.raises(torch.GradError, match="modified by an inplace operation"):
        loss.backward()
    loss = (w * w).sum()
    loss.backward()
    w.data.mul_(3)
    assert w.grad.tolist() == [6, 6] and w.tolist() == [9, 9]


@says("**`torch.jit.script` and `trace` return their argument**")
def test_script_and_trace():
    module = nn.Linear(2, 1)
    assert torch.jit.script(module) is module and torch.jit.trace(module, torch.ones(1, 2)) is module


@says("**`torch.func.vmap` runs a function once** on tensors that stand for the slices, as PyTorch does",
      'With `"different"` they are the numbers that PyTorch draws for all slices at once')
def test_vmap():
    x = gaussian(4, 3)
    calls = []
    assert torch.equal(torch.func.vmap(lambda v: calls.append(v.shape) or v.sin())(x), x.sin()) and calls == [(3,)]
    assert torch.equal(torch.func.vmap(torch.sin, chunk_size=3)(x), x.sin())
    torch.manual_seed(0)
    batch = torch.randn(4, 3)
    torch.manual_seed(0)
    assert torch.equal(torch.func.vmap(lambda v: torch.randn(3), randomness="different")(x), batch)
    torch.manual_seed(0)
    chunks = torch.cat([torch.randn(3, 3), torch.randn(1, 3)])
    torch.manual_seed(0)
    assert torch.equal(torch.func.vmap(lambda v: torch.randn(3), randomness="different", chunk_size=3)(x), chunks)


@says("The function given to `register_fake` makes the results for tensors of the device `meta`. The function given to `register_vmap` is "
      "called like the `vmap` of a `Function`.")
def test_custom_ops():
    @torch.library.custom_op("statements::double", mutates_args=())
    def double(x: torch.Tensor) -> torch.Tensor:
        return 2 * x

    double.register_fake(lambda x: torch.empty(7, device="meta"))

    batches = []

    def rule(info, in_dims, x):
        batches.append(info.batch_size)
        return 2 * x, in_dims[0]

    torch.library.register_vmap("statements::double", rule)
    assert double(torch.ones(2, device="meta")).shape == (7,)
    assert torch.func.vmap(double)(torch.ones(2, 2)).tolist() == [[2, 2], [2, 2]] and batches == [2]
    assert torch.func.vmap(lambda x: double(x))(torch.ones(2, 2)).tolist() == [[2, 2], [2, 2]] and batches == [2, 2]


@says("**There is no oneDNN, MKL or NNPACK**, and `is_available()` says so.")
def test_libraries():
    assert not torch.backends.mkldnn.is_available() and not torch.backends.mkl.is_available()
    assert not torch.backends.nnpack.is_available()


@says("**Nodes of the graph have PyTorch's names** (`type(grad_fn).__name__`)",
      "`next_functions` also has an entry, `(None, 0)`, for indices and masks.")
def test_nodes():
    x = gaussian(3).requires_grad_()
    assert type(x.exp().grad_fn).__name__ == "ExpBackward0"
    assert x.gather(0, torch.tensor([0])).grad_fn.next_functions[1:] == ((None, 0),)


@says("**Tangents of `autograd.forward_ad` and `torch.func.jvp` travel with tensors**, as in PyTorch, also under `no_grad()`")
def test_forward_derivatives():
    ad = torch.autograd.forward_ad
    with ad.dual_level(), torch.no_grad():
        y = ad.make_dual(gaussian(3), torch.ones(3)).sin()
        assert not y.requires_grad and ad.unpack_dual(y).tangent is not None


@says("`torch.__version__` and `importlib.metadata.version(\"torch\")` name the PyTorch release that Argand "
      "follows. `import argand` gives Argand's own version.")
def test_versions():
    theirs = run("import torch, importlib.metadata as m\nprint(torch.__version__, m.version('torch'))").split()
    assert theirs[0].split("+")[0] == theirs[1].split("+")[0] and theirs[0].startswith("2.") and torch.__version__ != theirs[0]


@says("Singular values and eigenvalues of float32 are computed in float64.")
def test_singular_values():
    x = gaussian(20, 20)
    assert torch.equal(torch.linalg.svdvals(x), torch.linalg.svdvals(x.double()).float())
    assert torch.equal(torch.linalg.eigvalsh(x + x.T), torch.linalg.eigvalsh((x + x.T).double()).float())


@says("the mode of `Kumaraswamy` (there nan), divergences of `ContinuousBernoulli` and `Uniform` on exactly [0, 1] (there infinite)",
      "`Gamma.cdf` also has a gradient for the concentration, and `Wishart.rsample` has gradients.")
def test_distributions():
    d = torch.distributions
    assert d.Kumaraswamy(torch.tensor(2.0), torch.tensor(3.0)).mode.isfinite()
    unit = d.Uniform(torch.tensor(0.0), torch.tensor(1.0))
    assert d.kl_divergence(d.ContinuousBernoulli(torch.tensor(0.3)), unit).isfinite()
    concentration = torch.tensor(2.0, requires_grad=True)
    d.Gamma(concentration, torch.tensor(1.0)).cdf(torch.tensor(1.0)).backward()
    # d/da P(a, 1) at 2 by differences of the regularized gamma function in float64
    a = torch.tensor([2 - 1e-5, 2 + 1e-5], dtype=torch.float64)
    low, high = torch.special.gammainc(a, torch.ones(2, dtype=torch.float64))
    assert concentration.grad.item() == pytest.approx(((high - low) / 2e-5).item(), rel=1e-4)
    scale = torch.eye(2).requires_grad_()
    d.Wishart(torch.tensor(3.0), scale).rsample().sum().backward()
    assert scale.grad.abs().sum() > 0


@says("`TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD` does nothing.", "Other objects, such as whole modules, can be exchanged if the "
      "classes exist on both sides. Their files need "
      "`weights_only=False`, which runs what they name.")
def test_no_variable_makes_load_run_code(tmp_path, monkeypatch):
    monkeypatch.setenv("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD", "1")
    torch.save(nn.Linear(2, 1), tmp_path / "module.pt")
    with pytest.raises(Exception, match="Linear"):
        torch.load(tmp_path / "module.pt")
    assert isinstance(torch.load(tmp_path / "module.pt", weights_only=False), nn.Linear)


@says("If the file was cut in the meantime, each access is an `OSError`")
def test_a_file_that_was_cut(tmp_path):
    torch.save({"w": torch.ones(1 << 20)}, tmp_path / "w.pt")
    w = torch.load(tmp_path / "w.pt", mmap=True)["w"]
    with open(tmp_path / "w.pt", "r+b") as f:
        f.truncate(1000)
    for _ in range(2):
        with pytest.raises(OSError):
            w.sum().item()


@says("A full disk is an `OSError` with `errno`, `filename`, `bytes_needed` and `bytes_free`.",
      "`save` returns when the file would survive a power loss. `save_async` copies the state and writes it in the "
      "background. `load_latest` finds the newest",
      "`StopSignal` lets SIGINT and SIGTERM finish the step.")
def test_names_of_checkpoints():
    folder = torch.checkpoint.CheckpointFolder
    assert all(hasattr(folder, name) for name in ("save", "save_async", "load_latest"))
    assert all(hasattr(torch.checkpoint, name) for name in ("training_state", "restore", "StopSignal"))
    assert hasattr(torch.utils.data.DataLoader, "state_dict") and hasattr(torch.utils.data.DataLoader, "load_state_dict")


@says("All are `RuntimeError`s as in PyTorch; an index out of range is an `IndexError` as well, a value out of its domain a `ValueError`, "
      "and a dtype that an op does not take a `NotImplementedError` and a `TypeError`.",
      "`argand.ShapeError`, `DtypeError`, `DeviceError`, `GradError` say more.")
@pytest.mark.parametrize("call, kind", [
    (lambda: torch.ones(2) + torch.ones(3), torch.ShapeError), (lambda: torch.ones(2, 3) @ torch.ones(2, 3), torch.ShapeError),
    (lambda: torch.ones(2).sum(5), IndexError), (lambda: torch.ones(2)[5], IndexError),
    (lambda: torch.ones(2, dtype=torch.int64).backward(), torch.GradError),
    (lambda: nn.functional.embedding(torch.tensor([7]), torch.ones(2, 2)), IndexError),
    (lambda: torch.linspace(0, 1, -1), ValueError), (lambda: torch.bitwise_and(torch.ones(2), torch.ones(2)), torch.DtypeError),
    (lambda: torch.bitwise_and(torch.ones(2), torch.ones(2)), NotImplementedError), (lambda: torch.ones(2).imag, TypeError),
    (lambda: torch.sort(torch.ones(2) + 0j), TypeError), (lambda: torch.fft.rfft(torch.ones(2) + 0j), TypeError),
    (lambda: torch.stack([torch.ones(2)], out=torch.empty(1, 2, dtype=torch.int64)), TypeError),
    (lambda: torch.set_rng_state(torch.ones(5056)), TypeError),
    (lambda: nn.functional.pad(torch.ones(3), (1, 1), mode="nope"), NotImplementedError),
    (lambda: nn.functional.pad(torch.ones(3), (1, 1), mode="reflect"), NotImplementedError)])
def test_errors_are_typed(call, kind):
    with pytest.raises(kind) as caught:
        call()
    assert isinstance(caught.value, RuntimeError)


@says("**`load_state_dict` finds what does not fit before it changes anything.**",
      "tensors of another shape, missing parts of a state and options that are not numbers are a `ValueError` at once")
def test_loading_is_all_or_nothing():
    module = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
    before = {name: t.clone() for name, t in module.state_dict().items()}
    wrong = {name: t + 1 for name, t in before.items()}
    wrong["1.weight"] = torch.ones(3, 3)
    with pytest.raises(RuntimeError):
        module.load_state_dict(wrong)
    assert all(torch.equal(t, before[name]) for name, t in module.state_dict().items())
    optimizer = torch.optim.SGD(module.parameters(), lr=0.1)
    state = optimizer.state_dict()
    state["param_groups"][0]["lr"] = "fast"
    with pytest.raises(ValueError):
        optimizer.load_state_dict(state)


@says("**`numpy()` of a tensor that requires grad** works where nothing is recorded, as in PyTorch.")
def test_numpy_of_a_parameter():
    with torch.no_grad():
        assert torch.ones(2, requires_grad=True).numpy().tolist() == [1, 1]
    with pytest.raises(RuntimeError):
        torch.ones(2, requires_grad=True).numpy()


@says("**A tensor is one Python object** for as long as somebody holds it.")
def test_a_tensor_is_one_object():
    module, x = nn.Linear(2, 2), torch.ones(2, requires_grad=True)
    assert module.weight is module.weight is dict(module.named_parameters())["weight"]
    assert x.exp().grad_fn.next_functions[0][0].variable is x


@says("**`utils.data.TarShards`** (not in PyTorch)", "**`utils.data.CIFAR`, `read_csv` and `read_text`** (not in PyTorch)")
def test_readers_of_data():
    assert all(hasattr(torch.utils.data, name) for name in ("TarShards", "CIFAR", "read_csv", "read_text"))


@says("is a tensor**, as in PyTorch, and it has bytes where NumPy gives truth values. `!=` with an array compares "
      "element by element, as `==` does")
def test_functions_of_numpy():
    assert isinstance(np.sin(torch.ones(2)), torch.Tensor)
    assert np.logical_not(torch.tensor([True, False])).dtype is torch.uint8
    assert (torch.tensor([1, 2]) != np.array([1, 3])).tolist() == [False, True]


@says("**DataLoader** batches do not depend on the number of workers.")
def test_batches_and_workers():
    def batches(workers):
        torch.manual_seed(5)
        return [b.tolist() for b in torch.utils.data.DataLoader(list(range(10)), 3, shuffle=True, num_workers=workers)]
    assert batches(0) == batches(2)


@says("there is one. Ops of all threads are recorded.", "A second profile beside an active one is an error.")
def test_profiles():
    x, w = torch.ones(2, 3), torch.ones(4, 3)
    with torch.profiler.profile() as p:
        nn.functional.linear(x, w)
        with pytest.raises(RuntimeError), torch.profiler.profile():
            pass
    assert [e.name for e in p.events() if e.name.startswith("aten::")] == ["aten::linear"]


@says("Of `fx.passes` there are `shape_prop`, the pass manager (`infra`), `CSEPass` and `SubgraphMatcher`; of `fx.experimental` `make_fx`, `const_fold` and "
      "`RewritingTracer`.", "What PyTorch prints as `torch._C._nn.gelu` and `torch.functional.split` is "
      "`torch.nn.functional.gelu` and `torch.split`.")
def test_fx():
    code = torch.fx.symbolic_trace(lambda x: nn.functional.gelu(torch.split(x, 1)[0])).code
    assert "torch.nn.functional.gelu(" in code and "torch.split(" in code
    assert importlib.import_module("argand.fx.passes.shape_prop").ShapeProp
    assert importlib.import_module("argand.fx.passes.infra.pass_manager").PassManager
    assert importlib.import_module("argand.fx.passes.dialect.common.cse_pass").CSEPass
    assert importlib.import_module("argand.fx.passes.utils.matcher_utils").SubgraphMatcher
    assert importlib.import_module("argand.fx.experimental.const_fold").split_const_subgraphs
    assert importlib.import_module("argand.fx.experimental.rewriter").RewritingTracer
    with pytest.raises(ImportError):
        importlib.import_module("argand.fx.passes.split_module")


@says("scrambled or not, up to 21201 dimensions; on the CPU.")
def test_sobol():
    assert torch.quasirandom.SobolEngine.MAXDIM == 21201


@says("or `share_memory_()`, moves its whole storage to shared memory, which both processes map. The sender must be "
      "alive when the receiver takes the memory.")
def test_share_memory():
    x = torch.ones(4)
    view = x[:2]
    x.share_memory_()
    assert x.is_shared() and view.is_shared()


@says("`torch.set_num_interop_threads(): num=3 is ignored: there is one pool of threads, see set_num_threads()`. "
      "With `ARGAND_STRICT=1` in the environment the warning is raised as an error, each time")
def test_ignored_arguments():
    program = "import torch, warnings\nwarnings.simplefilter('always')\ntorch.set_num_interop_threads(3)\n"
    told = run("import warnings\nwarnings.showwarning = lambda m, *a: print(m)\n" + program)
    assert told == "torch.set_num_interop_threads(): num=3 is ignored: there is one pool of threads, see set_num_threads()"
    assert "argand.IgnoredArgument" in run(program, status=1, ARGAND_STRICT="1")


@says("`argand.models` has ResNet-18, 34, 50 and MobileNetV3 small and large", "`argand.models.fuse(model)` folds batch norms",
      "Without a network the error says which file to put where.")
def test_models(tmp_path, monkeypatch):
    names = ["resnet18", "resnet34", "resnet50", "mobilenet_v3_small", "mobilenet_v3_large"]
    assert all(callable(getattr(torch.models, name)) for name in [*names, "fuse"])
    model = torch.models.resnet18().eval()
    x = gaussian(1, 3, 64, 64)
    assert torch.allclose(torch.models.fuse(model)(x), model(x), atol=1e-4)


@says("sparse, nested and quantized tensors; `MaskedTensor`; float8, uint16, uint32, uint64, complex32",
      "the names of float8 dtypes and of unsigned integers wider than a byte can be compared with, and making a tensor of such a dtype "
      "raises an error. `make_fx` traces with numbers, not with symbols for sizes.", "compiling to TorchScript", "`torch.export`, `torch.onnx`",
      "A name that is missing is an `AttributeError` or `ModuleNotFoundError` that names it")
@pytest.mark.parametrize("call", [
    lambda: torch.sparse_coo_tensor(torch.tensor([[0]]), torch.ones(1), (2,)), lambda: torch.nested.nested_tensor([torch.ones(2)]),
    lambda: torch.quantize_per_tensor(torch.ones(2), 1.0, 0, torch.qint8), lambda: torch.ones(2, dtype=torch.float8_e4m3fn),
    lambda: torch.ones(2, dtype=torch.uint16), lambda: torch.jit.save(nn.Linear(1, 1), "x"),
    lambda: torch.export.export(nn.Linear(1, 1), (torch.ones(1),)), lambda: torch.onnx.export(nn.Linear(1, 1), (torch.ones(1),), "x"),
    lambda: importlib.import_module("argand.fx.experimental.proxy_tensor").make_fx(torch.sin, tracing_mode="symbolic"),
    lambda: torch.masked.MaskedTensor(torch.ones(2), torch.ones(2).bool()), lambda: torch.no_such_name])
def test_what_is_not_there(call):
    with pytest.raises((NotImplementedError, AttributeError, ModuleNotFoundError, RuntimeError, TypeError)) as caught:
        call()
    assert len(str(caught.value)) > 10


@of_page("docs/agreement.md", "Of 68789 samples 68023 agree", "766 differ as the lines of `tests/parity/op_db_known.txt` say")
def test_figures_add_up():
    total, agree, differ = map(int, re.search(r"Of (\d+) samples (\d+) agree.*?(\d+) differ as", words(text_of("docs/agreement.md"))).groups())
    assert total == agree + differ


@says("`nms`, `roi_align`, `roi_pool`, `ps_roi_align`, `ps_roi_pool` and `deform_conv2d` of `torch.ops.torchvision` are ops of Argand's own",
      "All six ops take float16 and bfloat16 on all devices.", "An index without an image is an `IndexError`",
      "`qnms`, `qroi_align`, `box_iou_rotated` and the decoders of `torchvision.io` are not there.")
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_finding_objects(dtype):
    ops, image = torch.ops.torchvision, torch.ones(1, 4, 8, 8, dtype=dtype)
    boxes = torch.tensor([[0, 0, 0, 4, 4]], dtype=dtype)
    assert ops.nms(boxes[:, 1:], torch.ones(1, dtype=dtype), 0.5).tolist() == [0]
    for name, rest in [("roi_align", (1.0, 2, 2, 2, False)), ("roi_pool", (1.0, 2, 2)), ("ps_roi_align", (1.0, 2, 2, 2)),
                       ("ps_roi_pool", (1.0, 2, 2))]:
        out = getattr(ops, name)(image, boxes, *rest)
        assert (out[0] if isinstance(out, tuple) else out).dtype is dtype
        with pytest.raises(IndexError):
            getattr(ops, name)(image, boxes + torch.tensor([5, 0, 0, 0, 0], dtype=dtype), *rest)
    weight = torch.ones(1, 4, 1, 1, dtype=dtype)
    offset, mask = torch.zeros(1, 2, 8, 8, dtype=dtype), torch.ones(1, 1, 8, 8, dtype=dtype)
    assert ops.deform_conv2d(image, weight, offset, mask, torch.zeros(1, dtype=dtype), 1, 1, 0, 0, 1, 1, 1, 1, True).dtype is dtype
    assert not any(hasattr(ops, name) for name in ("qnms", "qroi_align", "box_iou_rotated"))


# What is PyTorch's alone, a name that stands for any, and a mistake.
NOT_OURS = {"torch.jit._pickle", "torch._C._nn.gelu", "torch.functional.split", "argand.x", "torch.x", "torch.tesnor"}


@pytest.mark.parametrize("page", ["README.md", "SECURITY.md", "CONTRIBUTING.md", "ARCHITECTURE.md", "docs/python.md", "docs/agreement.md"])
def test_names_exist(page):
    """Names of the package in backticks, with or without a call's parentheses."""
    for name in set(re.findall(r"`((?:torch|argand)(?:\.\w+)+)(?:\([^`]*\))?`", text_of(page))) - NOT_OURS:
        parts = name.split(".")
        found = torch
        for i, part in enumerate(parts[1:], 2):
            if not hasattr(found, part) and inspect.ismodule(found):
                below = ".".join(parts[1:i])
                found = importlib.import_module(naming.full(below) if parts[0] == "torch" else naming.own(below))
            else:
                found = getattr(found, part)
