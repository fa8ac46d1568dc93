"""Arguments and settings that change nothing: a call that gives one is told so, once, or fails under ARGAND_STRICT=1."""
import importlib
import inspect
import os
import subprocess
import sys
import typing
import warnings

import argand as torch
import pytest
from argand import _ignored
from argand._ignored import harmless, ignored
from argand.nn.parallel import comm


@pytest.fixture(autouse=True)
def nothing_was_shown(monkeypatch):
    monkeypatch.setattr(_ignored, "_shown", set())
    monkeypatch.delenv("ARGAND_STRICT", raising=False)


def warned(call, *args, **kwargs):
    """The texts of the warnings of a call."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call(*args, **kwargs)
    return [str(w.message) for w in caught if w.category is torch.IgnoredArgument]


@ignored(a="it has no meaning", k=("nothing reads it", 2), rest="no other names are known")
def example(x, a=1, *, k=None, **rest):
    return x


def test_values_other_than_the_default_warn_once():
    assert warned(example, 1) == warned(example, 1, 1) == warned(example, 1, a=1, k=None) == warned(example, 1, k=2) == []
    assert warned(example, 1, 5) == [f"{__name__}.example(): a=5 is ignored: it has no meaning"]
    assert warned(example, 1, 6) == []  # of that argument it was said
    assert warned(example, 1, k=3) == [f"{__name__}.example(): k=3 is ignored: nothing reads it"]
    assert warned(example, 1, other=0) == [f"{__name__}.example(): other=0 is ignored: no other names are known"]
    assert warned(example, 1, another=0) != []
    assert warned(example, 1, True, k=torch.ones(2)) == []  # shown before; a tensor is compared by identity


def test_a_wrapped_function_is_what_it_was():
    assert str(inspect.signature(example)) == "(x, a=1, *, k=None, **rest)" and example.__name__ == "example"
    assert example(7) == 7 and harmless(x="it is read")(len) is len
    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        example(a=2)


def test_the_warning_points_at_the_caller():
    with pytest.warns(torch.IgnoredArgument) as caught:
        example(1, 9)
    assert caught[0].filename == __file__ and issubclass(torch.IgnoredArgument, UserWarning)


def test_strict_raises_each_time(monkeypatch):
    monkeypatch.setenv("ARGAND_STRICT", "1")
    for _ in range(2):
        with pytest.raises(torch.IgnoredArgument, match="a=5 is ignored"):
            example(1, 5)
    assert example(1, 1) == 1
    monkeypatch.setenv("ARGAND_STRICT", "0")
    assert warned(example, 1, 5)


def test_set_warn_always():
    assert torch.is_warn_always_enabled() is False
    try:
        torch.set_warn_always(True)
        assert torch.is_warn_always_enabled() is True
        assert warned(example, 1, 5) and warned(example, 1, 5)
    finally:
        torch.set_warn_always(False)
    assert not warned(example, 1, 5)
    with pytest.raises(RuntimeError, match="expected a bool"):
        torch.set_warn_always(1)


def test_a_program_under_strict():
    program = "import argand as torch; print(torch.IgnoredArgument.__module__); torch.set_num_interop_threads(3)"
    run = subprocess.run([sys.executable, "-c", program], env={**os.environ, "ARGAND_STRICT": "1"}, capture_output=True, text=True)
    assert run.returncode == 1 and run.stdout == "argand\n", run.stderr
    assert "IgnoredArgument: torch.set_num_interop_threads(): num=3 is ignored: there is one pool of threads" in run.stderr


# ---- settings: what is read back is what holds


@pytest.mark.parametrize("name, values", [("benchmark", [True, False]), ("deterministic", [True, False]), ("enabled", [False, True]),
                                          ("benchmark_limit", [0, 10]), ("allow_tf32", [True, False])])
def test_cudnn_settings(name, values):
    cudnn = torch.backends.cudnn
    before = getattr(cudnn, name)
    for value in values:
        setattr(cudnn, name, value)
        assert getattr(cudnn, name) == value
    with pytest.raises(RuntimeError, match=rf"torch.backends.cudnn.{name}: expected an? (bool|int), but got str"):
        setattr(cudnn, name, "on")
    setattr(cudnn, name, before)


def test_cudnn_enabled_reaches_the_library():
    assert torch._C._cudnn_enabled()
    with torch.backends.cudnn.flags(enabled=False):
        assert not torch._C._cudnn_enabled() and not torch.backends.cudnn.enabled
    assert torch._C._cudnn_enabled() and torch.backends.cudnn.enabled


def test_libraries_that_are_not_used():
    backends = torch.backends
    assert not backends.mkldnn.is_available() and not torch.has_mkldnn and backends.mkldnn.enabled
    with backends.mkldnn.flags(enabled=False):
        assert not backends.mkldnn.enabled
    assert warned(setattr, backends.opt_einsum, "enabled", False) == []
    assert warned(setattr, backends.opt_einsum, "strategy", "auto") and backends.opt_einsum.strategy is None
    assert warned(setattr, backends.opt_einsum, "enabled", True) and not backends.opt_einsum.enabled
    with pytest.raises(RuntimeError, match="x86 is not a valid value for quantized engine"):
        backends.quantized.engine = "x86"
    backends.quantized.engine = "none"
    assert warned(backends.nnpack.set_flags, False) == [] and warned(backends.nnpack.set_flags, True)
    assert backends.cuda.preferred_linalg_library() == "default" and not warned(backends.cuda.preferred_blas_library, "cublaslt")
    with pytest.raises(RuntimeError, match="Choose from"):
        backends.cuda.preferred_linalg_library("lapack")  # which is not said to be ignored
    assert warned(backends.cuda.preferred_linalg_library, "magma") and warned(backends.cuda.preferred_blas_library, "cublas")


@pytest.mark.parametrize("module, name", [("nn.attention", "WARN_FOR_UNFUSED_KERNELS")])
def test_settings_that_cannot_change(module, name):
    module = importlib.import_module("argand." + module)
    assert not warned(setattr, module, name, False)
    assert f"{name}=True is ignored" in warned(setattr, module, name, True)[0] and getattr(module, name) is False


def test_permissions_are_kept():
    cuda = torch.backends.cuda
    assert cuda.fp16_bf16_reduction_math_sdp_allowed() is False
    cuda.allow_fp16_bf16_reduction_math_sdp(True)
    assert cuda.fp16_bf16_reduction_math_sdp_allowed() is True
    cuda.allow_fp16_bf16_reduction_math_sdp(False)
    for name in ("allow_fp16_reduced_precision_reduction", "allow_bf16_reduced_precision_reduction", "allow_fp16_accumulation"):
        before = getattr(cuda.matmul, name)
        setattr(cuda.matmul, name, not before)
        assert getattr(cuda.matmul, name) is not before
        setattr(cuda.matmul, name, before)
    with pytest.raises(AttributeError, match="Unknown attribute allow_fp4"):
        cuda.matmul.allow_fp4 = True


@pytest.mark.parametrize("kind, backend", [("flash", "FLASH_ATTENTION"), ("math", "MATH"), ("mem_efficient", "EFFICIENT_ATTENTION"),
                                           ("cudnn", "CUDNN_ATTENTION")])
def test_backends_of_attention(kind, backend):
    from argand.nn.attention import SDPBackend, sdpa_kernel
    enabled, enable = getattr(torch.backends.cuda, f"{kind}_sdp_enabled"), getattr(torch.backends.cuda, f"enable_{kind}_sdp")
    assert enabled()
    assert not warned(enable, False) and not enabled()
    with sdpa_kernel([getattr(SDPBackend, backend)]):
        assert enabled()
    assert not enabled()
    enable(True)
    assert enabled()


def test_no_backend_of_attention_is_allowed():
    from argand.nn.attention import SDPBackend, sdpa_kernel
    with pytest.warns(torch.IgnoredArgument, match="attention runs although no backend"):
        with sdpa_kernel([SDPBackend.ERROR]):
            pass


# ---- options that are honoured


@pytest.mark.parametrize("obj, kind, expected", [
    (["a"], typing.List[int], False), ([1], typing.List[int], True), ([], typing.List[int], True), ({"a": 1}, typing.Dict[str, int], True),
    ({"a": 1}, typing.Dict[str, str], False), ((1, "a"), typing.Tuple[int, str], True), ((1, 2), typing.Tuple[int, str], False),
    ((1, 2), typing.Tuple[int], False), (None, typing.Optional[int], True), ("s", typing.Optional[int], False),
    ([["a"]], typing.List[typing.List[int]], False), ([1], (typing.List[int], typing.List[str]), True), (1, typing.Union[int, str], True),
    ([1, "a"], typing.List[typing.Union[int, str]], True), (["a"], list[int], False), ("", int | None, False), (1, float, False),
    (True, int, True), (1, (int, str), True), (torch.ones(1), torch.Tensor, True)])
def test_jit_isinstance(obj, kind, expected):
    """PyTorch 2.15's answers."""
    assert torch.jit.isinstance(obj, kind) is expected


def test_jit_isinstance_needs_contained_types():
    with pytest.raises(RuntimeError, match="Attempted to use list without a contained type. Please add a contained type, e.g. list"):
        torch.jit.isinstance([1], list)
    with pytest.raises(RuntimeError, match="Attempted to use List without a contained type"):
        torch.jit.isinstance([1], typing.List)


def test_settings_of_jit():
    assert torch.jit.onednn_fusion_enabled() is False
    torch.jit.enable_onednn_fusion(True)
    assert torch.jit.onednn_fusion_enabled() is True
    torch.jit.enable_onednn_fusion(False)
    before = torch.jit.set_fusion_strategy([("STATIC", 2)])
    assert before == [("STATIC", 2), ("DYNAMIC", 10)] and torch.jit.set_fusion_strategy(before) == [("STATIC", 2)]
    with pytest.raises(ValueError, match="only supported 'STATIC' or 'DYNAMIC', got: zz"):
        torch.jit.set_fusion_strategy([("zz", 2)])
    with pytest.raises(Exception, match="unrecognized fuser option"):
        torch.jit.fuser("zz")


def test_there_is_no_process_group():
    for ask in (torch.distributed.get_rank, torch.distributed.get_world_size):
        with pytest.raises(ValueError, match="Default process group has not been initialized"):
            ask()


def test_there_is_no_mps():
    for name, work in (("empty_cache", "emptyCache"), ("synchronize", "deviceSynchronize"),
                       ("current_allocated_memory", "getCurrentAllocatedMemory"), ("driver_allocated_memory", "getDriverAllocatedMemory"),
                       ("recommended_max_memory", "getRecommendedMaxMemory"), ("seed", "getDefaultGenerator")):
        with pytest.raises(RuntimeError, match=rf"Cannot execute {work}\(\) without MPS backend."):
            getattr(torch.mps, name)()
    assert torch.mps.manual_seed(1) is None and torch.mps.device_count() == 0


def test_a_file_is_strided(tmp_path):
    (tmp_path / "f").write_bytes(bytes(16))
    assert torch.from_file(str(tmp_path / "f"), size=4, layout=torch.strided).tolist() == [0] * 4
    with pytest.raises(NotImplementedError, match="layout: expected torch.strided, got torch.sparse_coo"):
        torch.from_file(str(tmp_path / "f"), size=4, layout=torch.sparse_coo)


def test_flop_counter_needs_no_modules():
    from argand.utils.flop_counter import FlopCounterMode
    with pytest.warns(UserWarning, match="mods argument is not needed anymore"):
        FlopCounterMode(torch.nn.Linear(1, 1), display=False)


def test_texts_and_types_of_tensors():
    """PyTorch 2.15's."""
    x = torch.ones(2, 2)
    assert x.__repr__(tensor_contents="abc") == "tensor(abc)"
    assert x.double().__repr__(tensor_contents="abc") == "tensor(abc, dtype=torch.float64)"
    assert torch.tensor(1).__repr__(tensor_contents="abc") == "tensor(abc)"
    assert torch.ones(1, requires_grad=True).__repr__(tensor_contents="abc") == "tensor(abc, requires_grad=True)"
    assert x.type(torch.float64, **{"async": True}).dtype is torch.float64
    with pytest.raises(TypeError, match="unexpected keyword argument 'zz'"):
        x.type(torch.float64, zz=True)
    image = torch.ones(1, 2, 3, 4)
    assert image.type(torch.float64, memory_format=torch.channels_last).stride() == (24, 1, 8, 2)


def test_events_and_graphs_refuse():
    with pytest.raises(NotImplementedError, match="external=True is not supported"):
        torch.cuda.Event(external=True)
    assert not warned(torch.cuda.Event, blocking=True)
    assert warned(torch.masked.median, torch.ones(2, 2), 1, dtype=torch.float64) != []


def test_uninitialized_buffers_are_persistent_or_not():
    class Lazy(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.kept, self.left = torch.nn.UninitializedBuffer(), torch.nn.UninitializedBuffer(persistent=False)
    module = Lazy()
    assert list(module._buffers) == ["kept", "left"] and list(module.state_dict()) == ["kept"]
    module.left.materialize((2,))
    assert module.left.shape == (2,) and list(module.state_dict()) == ["kept"]


def test_modules_refuse_a_copy():
    with pytest.raises(RuntimeError, match="to\\(\\) does not accept copy argument"):
        torch.nn.Linear(1, 1).to(torch.float64, copy=True)


@pytest.mark.parametrize("make, text", [
    (lambda: torch.nn.Embedding(5, 2, sparse=True)(torch.tensor([1])), "embedding: "),
    (lambda: torch.nn.EmbeddingBag(5, 2, sparse=True)(torch.tensor([[1]])), "embedding_bag: "),
    (lambda: torch.nn.functional.embedding(torch.tensor([1]), torch.ones(5, 2), sparse=True), "embedding: "),
    (lambda: torch.ones(5, 2).gather(0, torch.tensor([[1, 1]]), sparse_grad=True), "gather: ")])
def test_sparse_gradients_are_dense(make, text):
    (message,) = warned(make)
    assert text in message and "=True is ignored: there are no sparse tensors: the gradient is dense" in message
    assert warned(torch.nn.Embedding(5, 2), torch.tensor([1])) == []


def test_a_warning_from_within_the_package_points_at_the_program():
    with pytest.warns(torch.IgnoredArgument) as caught:
        torch.nn.Embedding(5, 2, sparse=True)(torch.tensor([1]))
    assert [warning.filename for warning in caught] == [__file__]


def test_options_of_functions_of_nn():
    from argand.nn.attention.flex_attention import flex_attention
    x = torch.ones(1, 1, 2, 4)
    assert warned(flex_attention, x, x, x, kernel_options={}) == []
    assert "kernel_options={'BLOCK_M': 16} is ignored" in warned(flex_attention, x, x, x, kernel_options={"BLOCK_M": 16})[0]
    assert "options" in warned(torch.nn.functional.linear_cross_entropy, torch.ones(1, 2), torch.ones(3, 2), torch.tensor([0]), options=1)[0]
    gradient = torch.nn.Parameter(torch.ones(2))
    gradient.grad = torch.ones(2)
    assert warned(torch.nn.utils.clip_grad_norm_, [gradient], 1.0, foreach=True) == []


def test_options_of_profiles():
    from argand.autograd.profiler import _ExperimentalConfig
    assert warned(torch.profiler.profile, with_modules=True, post_processing_timeout_s=1.0) == warned(_ExperimentalConfig) == []
    assert "verbose=True is ignored: it is an option of Kineto" in warned(_ExperimentalConfig, verbose=True)[0]
    with torch.profiler.profile() as profile:
        torch.ones(1)
    assert warned(profile.key_averages, include_python_functions=True)


def test_closeness_of_subclasses():
    parameter, tensor = torch.nn.Parameter(torch.ones(2)), torch.ones(2)
    torch.testing.assert_close(parameter, tensor)
    with pytest.raises(TypeError, match="No comparison pair was able to handle inputs of type"):
        torch.testing.assert_close(parameter, tensor, allow_subclasses=False)


def test_there_is_one_level_of_forward_derivatives():
    from argand.autograd import forward_ad
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(torch.ones(1), torch.ones(1), level=0)
        assert forward_ad.unpack_dual(dual, level=0).tangent.item() == 1
        for call in (lambda: forward_ad.unpack_dual(dual, level=1), lambda: forward_ad.make_dual(torch.ones(1), torch.ones(1), level=1)):
            with pytest.raises(RuntimeError, match="expected the number of the level that is open, 0, got 1"):
                call()


def test_the_size_that_repeats_come_to_is_checked():
    for repeats in (2, torch.tensor([1, 2, 3])):
        assert len(torch.arange(3).repeat_interleave(repeats, output_size=6)) == 6
        with pytest.raises(RuntimeError, match="Invalid output_size, expected 6 but got 5"):
            torch.arange(3).repeat_interleave(repeats, output_size=5)


def test_spawn_names_the_signal(tmp_path):
    """As PyTorch 2.15."""
    (tmp_path / "killed.py").write_text("""
import os, signal
import argand.multiprocessing as mp

def run(rank):
    if rank == 0:
        os.kill(os.getpid(), signal.SIGKILL)

if __name__ == "__main__":
    try:
        mp.spawn(run, nprocs=2)
    except mp.ProcessExitedException as error:
        print(error, error.signal_name)
""")
    run = subprocess.run([sys.executable, "killed.py"], cwd=tmp_path, capture_output=True, text=True)
    assert run.stdout == "process 0 terminated with signal SIGKILL SIGKILL\n", run.stderr


def test_capsules_for_another_device():
    """PyTorch 2.15's errors; a capsule of a CPU's tensor for the CPU is one of the same memory."""
    x = torch.ones(2)
    assert torch.from_dlpack(x.__dlpack__(dl_device=(1, 0), copy=False, stream=-1, max_version=(1, 0))).data_ptr() == x.data_ptr()
    assert torch.from_dlpack(x.__dlpack__(dl_device=(1, 0), copy=True)).data_ptr() != x.data_ptr()
    with pytest.raises(AssertionError, match="stream should be None on cpu."):
        x.__dlpack__(stream=0)
    with pytest.raises(BufferError, match="Unsupported device_type: 13"):
        x.__dlpack__(dl_device=(13, 0))
    with pytest.raises(ValueError, match="cannot move \\(i.e. copy=False\\) tensor from cpu to cuda:0 without copying."):
        x.__dlpack__(dl_device=(2, 0), copy=False)


def test_flags_of_opt_einsum_are_a_scope_that_tells_what_is_ignored():
    flags = torch.backends.opt_einsum
    with flags.flags(enabled=False):
        assert not flags.enabled
    with pytest.warns(torch.IgnoredArgument, match="from left to right"):
        assert flags.set_flags(_enabled=True) == (False, None)
    assert not flags.enabled and flags.get_opt_einsum() is None


# ---- options that one form of a call has and another has not

T = torch.arange(6.0).reshape(2, 3)


@pytest.mark.parametrize("call,error,text", [
    (lambda: torch.where(T > 1, out=torch.empty(0)), TypeError, "out"),
    (lambda: torch.repeat_interleave(torch.tensor([1, 2]), dim=5), TypeError, "dim"),
    (lambda: torch.repeat_interleave(repeats=torch.tensor([1, 2]), dim=0), TypeError, "dim"),
    (lambda: torch.zeros(2).set_(torch.zeros(3), 1), TypeError, "storage_offset"),
    (lambda: torch.zeros(2).set_(torch.zeros(3), 0, stride=(2,)), TypeError, "storage_offset"),
    (lambda: torch.zeros(2).set_(size=(1,)), TypeError, "storage_offset"),
    (lambda: torch.zeros(2).set_(None, 1, (1,), (1,)), TypeError, "storage_offset"),
    (lambda: T.type(planted=1), TypeError, "unexpected keyword argument 'planted'"),
    (lambda: torch.convolution(torch.ones(1, 1, 3), torch.ones(1, 1, 2), None, [1], [0], [1], False, [-1], 1), RuntimeError, "negative output_padding"),
    (lambda: torch.convolution(torch.ones(1, 1, 3), torch.ones(1, 1, 2), None, [1], [0], [1], False, [0, 0], 1), RuntimeError, "output_padding"),
    (lambda: comm.scatter(T, devices=[0], out=[torch.empty(2, 3)]), RuntimeError, "'devices' must not be specified"),
    (lambda: comm.scatter(T, chunk_sizes=[2], out=[torch.empty(2, 3)]), RuntimeError, "'chunk_sizes' must not be"),
    (lambda: comm.gather([T, T], destination=0, out=torch.empty(4, 3)), RuntimeError, "'destination' must not be"),
    (lambda: torch.random.fork_rng(device_type="planted").__enter__(), RuntimeError, "planted"),
    (lambda: torch.random.fork_rng(enabled=False, device_type="planted").__enter__(), RuntimeError, "planted"),
    (lambda: torch.nn.utils.get_total_norm([], norm_type="planted"), ValueError, "planted")])
def test_an_option_of_another_form_is_refused(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_flex_attention_gives_one_of_two_extras():
    from argand.nn.attention.flex_attention import AuxRequest, flex_attention
    q = torch.ones(1, 1, 2, 4)
    with pytest.raises(ValueError, match="both return_lse and return_aux"):
        flex_attention(q, q, q, return_lse=True, return_aux=AuxRequest(max_scores=True))


@pytest.mark.parametrize("dim,shape", [((), (1, 1)), ([], (2, 3)), (None, (1, 1)), ((0, 1), (1, 1)), (0, (1, 3))])
def test_the_dimensions_of_a_masked_product(dim, shape):
    assert torch.masked.prod(T, dim, keepdim=True, mask=T > 1).shape == shape


@pytest.mark.parametrize("options", [{"determinism_check": "none"}, {"early_stop": False}])
def test_options_of_another_kind_of_checkpoint(options):
    a = torch.ones(2, requires_grad=True)
    with pytest.warns(torch.IgnoredArgument, match=next(iter(options))):
        torch.utils.checkpoint.checkpoint(lambda x: x.sin(), a, use_reentrant=True, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        torch.utils.checkpoint.checkpoint(lambda x: x.sin(), a, use_reentrant=False, **options)


@pytest.mark.parametrize("option", [{"fullgraph": True}, {"recompile_limit": 3}])
def test_options_of_graphs_without_a_graph(option):
    with pytest.warns(torch.IgnoredArgument, match=next(iter(option))):
        torch.compile(lambda x: x + 1, **option, backend="eager")


def test_numbers_of_summaries():
    summary = pytest.importorskip("argand.utils.tensorboard.summary")
    with pytest.warns(torch.IgnoredArgument, match="double_precision"):
        summary.scalar("x", 1.0, double_precision=True)
