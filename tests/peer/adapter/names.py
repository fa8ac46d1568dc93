"""Names of PyTorch's internals that the helpers of its tests import or ask while they load."""
import contextlib
import importlib
import types

# Modules of which helpers keep functions in tables: reference implementations in Python, compilers.
INERT = (
    "torch._refs", "torch._prims", "torch._prims_common", "torch._lazy", "torch._inductor", "torch._dynamo",
    "torch._logging", "torch._subclasses.meta_utils", "functorch.experimental",
    "torch._utils_internal", "torch.autograd._functions", "torch._higher_order_ops", "torch._functorch",
    "torch.onnx", "torch.testing._internal.generated")


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
    if name == "torch._dynamo.test_case.TestCase":
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


def assert_metadata_eq(assert_eq, one, other, *, skip_symbolic=False, skip_leaf=False):
    """That two tensors are of one kind: of one dtype, form and part in autograd, as are their gradients."""
    asked = ["dtype", "requires_grad"] + ([] if skip_leaf else ["is_leaf"]) + ([] if skip_symbolic else ["shape"])
    called = ["is_inference", "is_conj", "is_neg", "_is_view"] + ([] if skip_symbolic else ["stride", "storage_offset"])
    for name in asked:
        assert_eq(getattr(one, name), getattr(other, name))
    for name in called:
        assert_eq(getattr(one, name)(), getattr(other, name)())
    assert_eq(one.grad is None, other.grad is None)
    if one.grad is not None:
        assert_metadata_eq(assert_eq, one.grad, other.grad, skip_symbolic=skip_symbolic, skip_leaf=skip_leaf)


# Of those modules: constants, which the helpers read while they load.
CONSTANTS = {"torch._subclasses.meta_utils": {"assert_metadata_eq": assert_metadata_eq},
             "torch._inductor.utils": {"GPU_TYPES": ["cuda", "xpu"]},
             "torch.testing._internal.generated.annotated_fn_args": {"annotated_args": {}}}

# Functions of PyTorch's inside, which the tables of operators name.
ABSENT = ("_native_batch_norm_legit", "_unsafe_masked_index", "_unsafe_masked_index_put_accumulate", "_chunk_cat")
ABSENT_ATEN = ("_batch_norm_with_update", "_flash_attention_forward", "_efficient_attention_forward", "native_dropout_backward")

ABSENT_OF_MODULES = {"torch.distributions.kl": ("_kl_expfamily_expfamily",),
                     "torch.distributions.dirichlet": ("_Dirichlet_backward",),
                     "torch._C": ("_DisableTorchDispatch",), "torch._dynamo.utils": ("LazyString",),
                     "torch.autograd": ("_calculate_shape",),
                     "torch.autograd.gradcheck": ("_get_numerical_jacobian", "_iter_tensors")}


def inert(name):
    module = Inert(name)
    vars(module).update(CONSTANTS.get(name, {}))
    return module


def add():
    """Gives torch._C, where it lacks them, the switches that helpers ask about the build and about TorchScript."""
    import torch
    script = {name: type(name, (), {}) for name in ("ScriptDict", "ScriptList", "ScriptMethod", "ScriptFunction")}
    switches = {"_DisableFuncTorch": contextlib.nullcontext, "_jit_set_profiling_executor": lambda on: False, "_get_graph_executor_optimize": lambda *on: False,
                "_jit_set_num_profiled_runs": lambda runs: 0, "_jit_set_profiling_mode": lambda on: False,
                "_get_privateuse1_backend_name": lambda: "privateuseone", "has_lapack": True, "has_spectral": True}
    give(torch._C, {**script, **switches})
    import torch._dynamo.config
    give(torch._dynamo.config, {"inline_inbuilt_nn_modules": False})
    for module, names in ((torch, ABSENT), (torch.ops.aten, ABSENT_ATEN)):
        give(module, {name: Absent(name) for name in names})
    jiterator = {name: lambda *code, name=name, **options: Absent(name) for name in ("_create_jit_fn", "_create_multi_output_jit_fn")}
    def check_module_version_greater_or_equal(module, least, error_if_malformed=True):
        return tuple(int(part) for part in module.__version__.split(".")[:len(least)]) >= tuple(least)

    give(torch.serialization, {"check_module_version_greater_or_equal": check_module_version_greater_or_equal})
    for module, names in ABSENT_OF_MODULES.items():
        give(importlib.import_module(module), {name: absent(f"{module}.{name}") for name in names})
    give(torch, {"_nnpack_available": lambda: False, "_mkldnn": "torch._mkldnn"})
    give(torch._C, {"_ConvBackend": Inert("torch._C._ConvBackend")})
    give(torch.nn, {"Container": Absent("torch.nn.Container")})
    give(torch.ao, {"nn": Absent("torch.ao.nn")})
    give(torch.cuda.jiterator, jiterator)
    give(importlib.import_module("torch._inductor.config"), {"patch": lambda *settings, **more: lambda function: function})
    importlib.import_module("torch.testing._utils")
    give(importlib.import_module("torch.utils.data._utils"), {"MP_STATUS_CHECK_INTERVAL": 5.0})
    give(torch.fft, {"__all__": [name for name in dir(torch.fft) if not name.startswith("_")]})
    give(torch.profiler, {"itt": types.SimpleNamespace(is_available=lambda: False)})
    give(torch.backends, {"disable_global_flags": lambda: None})


def give(module, values):
    for name, value in values.items():
        if not hasattr(module, name):
            setattr(module, name, value)
