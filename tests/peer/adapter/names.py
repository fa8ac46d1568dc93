"""Names of PyTorch's internals that the helpers of its tests import or ask while they load."""
import contextlib
import importlib
import os
import sys
import types
import unittest
from pathlib import Path

# Modules of which helpers keep functions in tables: reference implementations in Python, compilers.
INERT = (
    "torch._refs", "torch._prims", "torch._prims_common", "torch._lazy", "torch._inductor", "torch._dynamo",
    "torch._logging", "torch._subclasses.meta_utils", "functorch.experimental.control_flow", "functorch.compile",
    "torch._utils_internal", "torch.autograd._functions", "torch._higher_order_ops", "torch._functorch",
    "torch.onnx", "torch.testing._internal.generated", "torch._custom_op", "torch.utils._traceback", "torch.profiler._pattern_matcher",
    "torch.profiler._utils", "torch.autograd.profiler_legacy", "torch.cuda._memory_viz", "torch.utils.viz",
    "torch.fx.experimental", "torch.fx.passes", "torch.fx.tensor_type", "torch.fx.operator_schemas",
    "torch._C._functorch", "torch.testing._internal.jit_utils", "torch._export",
    "torch.testing._internal.common_quantization", "torch._subclasses.functional_tensor", "torch._dispatch.python",
    "torch._subclasses.schema_check_mode", "torch._decomp", "torch.testing._internal.hop_db", "torch._library.infer_schema",
    "fx.test_gradual_type")  # tests of a checker of shapes that is not there, which need sympy


class Absent:
    """Stands where a table of the helpers has a function that Argand does not have.  To use it is an error."""

    def __init__(self, name):
        self.__name__ = self.__qualname__ = name.rpartition(".")[2]
        self._name = name

    def __call__(self, *args, **kwargs):
        raise NotImplementedError(f"Argand has no {self._name}")

    def __getattr__(self, name):
        if name == "__all__":
            return []
        if name.startswith("__"):
            raise AttributeError(name)
        return absent(f"{self._name}.{name}")


def absent(name):
    """What stands for a function, or, where the name begins as one of a class, for a class, which others may derive from."""
    last = name.rpartition(".")[2]
    if name in ("torch._dynamo.test_case.TestCase", "torch.testing._internal.jit_utils.JitTestCase"):
        from torch.testing._internal.common_utils import TestCase
        return TestCase
    if not last.lstrip("_")[:1].isupper() or last.isupper():
        return Absent(name)

    def __init__(self, *args, **kwargs):
        raise NotImplementedError(f"Argand has no {name}")
    return type(last, (), {"__init__": __init__})


class Inert(types.ModuleType):
    def __getattr__(self, name):
        if name == "__all__":
            return []
        if name.startswith("__"):
            raise AttributeError(name)
        return absent(f"{self.__name__}.{name}")


# Such a module under one that is no package in Argand.
BELOW_MODULES = ("torch.autograd._functions.utils", "torch.cuda.jiterator", "torch._dispatch.python")


def sleep(cycles):
    """Keeps the current stream busy for about so many cycles of a GPU's clock, by products of matrices."""
    import torch
    with torch.no_grad():
        x = torch.eye(1024, device="cuda")
        for _ in range(1 + int(cycles) // 100_000):
            x = x @ x
        sleep.kept = x  # what nobody looks at might not be computed


def name_streams(kind):
    """Gives torch._C the way by which helpers choose a stream: by its numbers, so streams are kept by theirs."""
    import torch
    made, init = {}, kind.__init__

    def __init__(self, *args, **kwargs):
        init(self, *args, **kwargs)
        made[self.device_index, self.stream_id] = self._stream

    def set_stream(stream_id, device_index, device_type):
        torch.cuda.set_stream(kind(_stream=made[device_index, stream_id]))
    kind.__init__ = __init__
    give(torch._C, {"_get_cublas_allow_tf32": lambda: torch.backends.cuda.matmul.allow_tf32,
                    "_set_cublas_allow_tf32": lambda on: setattr(torch.backends.cuda.matmul, "allow_tf32", on)})
    give(torch._C, {"_cuda_setStream": set_stream, "_cuda_setDevice": torch.cuda.set_device, "_cuda_getDevice": torch.cuda.current_device})


def assert_metadata_eq(assert_eq, one, other, *, skip_symbolic=False, skip_leaf=False):
    """Asserts that two tensors, and their gradients, agree in dtype, shape, layout and autograd state."""
    asked = ["dtype", "requires_grad"] + ([] if skip_leaf else ["is_leaf"]) + ([] if skip_symbolic else ["shape"])
    called = ["is_inference", "is_conj", "is_neg", "_is_view"] + ([] if skip_symbolic else ["stride", "storage_offset"])
    for name in asked:
        assert_eq(getattr(one, name), getattr(other, name))
    for name in called:
        assert_eq(getattr(one, name)(), getattr(other, name)())
    assert_eq(one.grad is None, other.grad is None)
    if one.grad is not None:
        assert_metadata_eq(assert_eq, one.grad, other.grad, skip_symbolic=skip_symbolic, skip_leaf=skip_leaf)


def without_tests(cls, prefix, *more, **options):
    """An empty class in place of one that repeats the tests of `cls` under a setting of PyTorch's compilers."""
    return type(prefix + cls.__name__, (unittest.TestCase,), {})


# Constants of modules that PyTorch's test helpers read while they load.
CONSTANTS = {"torch.testing._internal.hop_db": {"hop_db": []},
             "torch._dynamo.testing": {"make_test_cls_with_patches": without_tests},
             "torch._subclasses.meta_utils": {"assert_metadata_eq": assert_metadata_eq},
             "torch._inductor.utils": {"GPU_TYPES": ["cuda", "xpu"], "get_gpu_type": lambda: "cuda"},
             "torch.testing._internal.generated.annotated_fn_args": {"annotated_args": {}},
             "torch.testing._internal.common_quantization": {"skipIfNoDynamoSupport": unittest.skip("there is no Dynamo")}}

# Internal functions of PyTorch that its tables of operators name.
ABSENT = ("_native_batch_norm_legit", "_unsafe_masked_index", "_unsafe_masked_index_put_accumulate", "_chunk_cat")
ABSENT_ATEN = ("_batch_norm_with_update", "_new_zeros_with_same_feature_meta", "_flash_attention_forward", "_efficient_attention_forward", "native_dropout_backward")

ABSENT_OF_MODULES = {"torch.distributions.kl": ("_kl_expfamily_expfamily",),
                     "torch.distributions.dirichlet": ("_Dirichlet_backward",),
                     "torch._C": ("_DisableTorchDispatch",), "torch._dynamo.utils": ("LazyString", "clone_input"),
                     "torch._C._profiler": ("_ExtraFields_PyCall", "_ExperimentalConfig"), "torch.autograd": ("_calculate_shape",),
                     "torch.utils.checkpoint": ("_infer_device_type",),
                     "torch._C._functorch": ("reshape_dim_into", "reshape_dim_outof", "_wrap_for_grad", "_unwrap_for_grad"),
                     "torch._functorch.vmap": ("restore_vmap",), "torch.autograd.function": ("_nested_map",),
                     "torch.fx.experimental.proxy_tensor": ("DecompositionInterpreter", "get_isolated_graphmodule"),
                     "torch.export": ("export_for_training",), "torch._guards": ("tracing",),
                     "torch._subclasses.fake_tensor": ("_CacheKeyState", "extract_tensor_metadata", "MetadataMismatchError",
                                                       "FakeTensorConverter", "UnsupportedOperatorException"),
                     "torch.fx._compatibility": ("_BACK_COMPAT_OBJECTS", "_MARKED_WITH_COMPATIBILITY"),
                     "torch.autograd.gradcheck": ("_get_numerical_jacobian", "_iter_tensors")}


def corresponding_complex_dtype(dtype):
    """The complex dtype whose parts have this one."""
    import torch
    return torch.promote_types(dtype, torch.complex64)


def elementwise_dtypes(*operands, type_promotion_kind):
    """The dtypes to compute in and of the result, by the library's own promotion: of references of operators that NumPy computes."""
    import functools

    import torch
    tensors = [operand if isinstance(operand, torch.Tensor) else torch.tensor(operand) for operand in operands]
    dtype = functools.reduce(torch.result_type, tensors) if len(tensors) == 2 else functools.reduce(torch.promote_types, [t.dtype for t in tensors])
    return dtype, dtype


def reduction_identity(op, input, *args):
    """What masked elements stand as in a reduction, None where nothing does: of references of torch.masked."""
    import torch
    op = op.removeprefix("masked.")
    if op in ("mean", "median", "std", "var"):
        return None
    least = -torch.inf if input.is_floating_point() or input.is_complex() or input.dtype == torch.bool else torch.iinfo(input.dtype).min
    most = torch.inf if least == -torch.inf else torch.iinfo(input.dtype).max
    value = {"sum": 0, "prod": 1, "cumsum": 0, "cumprod": 1, "amax": least, "argmax": least, "logsumexp": least, "amin": most, "argmin": most,
             "norm": torch.inf if args and args[0] == -torch.inf else 0}[op]
    return torch.tensor(value, dtype=input.dtype, device=input.device)


def input_mask(input, *args, mask, **options):
    """The mask in the shape of the input."""
    return mask.bool().expand(input.shape)


def inert(name):
    module = Inert(name)
    vars(module).update(CONSTANTS.get(name, {}))
    return module


def in_sources(*parts):
    """The path of a file, or, where it is beside the helpers in PyTorch's source tree, that one's."""
    path = Path(*parts)
    below = path.parts[path.parts.index("torch"):] if "torch" in path.parts else ()
    there = Path(os.environ.get("ARGAND_SUITE_SOURCES", "."), *below)
    return str(there if below and not path.exists() and there.exists() else path)


def add():
    """Gives torch._C, where it lacks them, the switches that helpers ask about the build and about TorchScript."""
    import torch
    script = {name: type(name, (), {}) for name in ("ScriptDict", "ScriptList", "ScriptMethod", "ScriptFunction")}
    switches = {"_DisableFuncTorch": contextlib.nullcontext,
                "_jit_set_profiling_executor": lambda on: False, "_get_graph_executor_optimize": lambda *on: False,
                "_jit_set_num_profiled_runs": lambda runs: 0, "_jit_set_profiling_mode": lambda on: False,
                "_get_privateuse1_backend_name": lambda: "privateuseone", "has_lapack": True, "has_spectral": True}
    give(torch._C, {**script, **switches})
    kinds = types.SimpleNamespace(DEFAULT=0, NO_OPMATH=1)
    give(importlib.import_module("torch._prims"), {"utils": types.SimpleNamespace(
        elementwise_dtypes=elementwise_dtypes, ELEMENTWISE_TYPE_PROMOTION_KIND=kinds)})
    give(importlib.import_module("torch._prims_common"), {"corresponding_complex_dtype": corresponding_complex_dtype})
    give(torch.masked, {"_reduction_identity": reduction_identity, "_input_mask": input_mask})
    import torch._dynamo.config
    give(torch._dynamo.config, {"inline_inbuilt_nn_modules": False})
    give(torch, {"_refs": importlib.import_module("torch._refs")})
    for module, names in ((torch, ABSENT), (torch.ops.aten, ABSENT_ATEN)):
        give(module, {name: Absent(name) for name in names})
    jiterator = {name: lambda *code, name=name, **options: Absent(name) for name in ("_create_jit_fn", "_create_multi_output_jit_fn")}
    def check_module_version_greater_or_equal(module, least, error_if_malformed=True):
        return tuple(int(part) for part in module.__version__.split(".")[:len(least)]) >= tuple(least)

    give(torch.serialization, {"check_module_version_greater_or_equal": check_module_version_greater_or_equal})
    for module, names in ABSENT_OF_MODULES.items():
        give(importlib.import_module(module), {name: absent(f"{module}.{name}") for name in names})
    # A test makes one while it loads; its own tests call it.
    import torch._ops
    torch._ops.HigherOrderOperator = type("HigherOrderOperator", (), {
        "__init__": lambda self, name: None, "py_impl": lambda self, key: lambda rule: rule,
        "__call__": Absent("torch._ops.HigherOrderOperator")})
    give(importlib.import_module("torch._C._functorch"), {
        "TransformType": types.SimpleNamespace(Vmap=0, Grad=1), "_is_vmap_fallback_enabled": lambda: True,
        "_set_vmap_fallback_enabled": lambda on: None})
    give(torch._C, {"_debug_only_are_vmap_fallback_warnings_enabled": lambda: False,
                    "_debug_only_display_vmap_fallback_warnings": lambda on: None,
                    "_infer_size": lambda a, b: torch.broadcast_shapes(a, b)})
    give(importlib.import_module("functorch.experimental"), {"control_flow": inert("functorch.experimental.control_flow")})
    give(torch, {"Type": absent("torch.Type")})  # of TorchScript: annotations of a test's helper
    give(torch, {"_nnpack_available": lambda: False, "_mkldnn": "torch._mkldnn"})
    import torch.onnx
    give(torch.onnx, {"producer_version": torch.__version__})  # which helpers cut out of expected texts
    give(torch._C, {"_ConvBackend": Inert("torch._C._ConvBackend")})
    give(torch.nn, {"Container": Absent("torch.nn.Container")})
    give(torch.ao, {"nn": Absent("torch.ao.nn")})
    give(torch.cuda.jiterator, jiterator)
    give(torch.cuda, {"_sleep": sleep, "_HAS_PYNVML": False})
    name_streams(torch.cuda.Stream)
    for config in ("torch._inductor.config", "torch._functorch.config", "torch.fx.experimental._config"):
        give_over(importlib.import_module(config), {"patch": patch})
    size = {"name": "size", "simple_type": "SymInt", "is_kwarg_only": "True"}
    give_over(importlib.import_module("torch.testing._internal.generated.annotated_fn_args"), {"annotated_args": {
        torch.nonzero_static: [{"name": "input", "simple_type": "Tensor"}, size],
        torch.Tensor.nonzero_static: [{"name": "self", "simple_type": "Tensor"}, size],
        torch.repeat_interleave: [{"name": "repeats", "simple_type": "Tensor"}]}})
    for name in ("torch.testing._utils", "torch.testing._comparison", "torch.utils._mode_utils"):
        importlib.import_module(name)
    give(torch._C, {"_get_cpu_allow_fp16_reduced_precision_reduction": lambda: False,
                    "_set_cpu_allow_fp16_reduced_precision_reduction": lambda on: None})
    give(importlib.import_module("torch.utils.data._utils"), {"MP_STATUS_CHECK_INTERVAL": 5.0})
    give(torch.fft, {"__all__": [name for name in dir(torch.fft) if not name.startswith("_")]})
    give(torch.profiler, {"itt": types.SimpleNamespace(is_available=lambda: False)})
    utils = importlib.import_module("torch._utils_internal")
    give_over(utils, {"get_writable_path": lambda path: path, "get_file_path_2": in_sources})
    give(torch.backends, {"disable_global_flags": lambda: None})
    add_below_modules()


class patch(contextlib.ContextDecorator):
    """Settings of compilers, for a function or a scope: without effect."""

    def __init__(self, *settings, **more):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return False


def add_below_modules():
    for name in BELOW_MODULES:
        sys.modules.setdefault(name, inert(name))


def give_over(module, values):
    vars(module).update(values)


def give(module, values):
    for name, value in values.items():
        if not hasattr(module, name):
            setattr(module, name, value)
