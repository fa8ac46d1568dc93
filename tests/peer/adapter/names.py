"""Names of PyTorch's internals that the helpers of its tests import or ask while they load."""
import importlib
import types

# Modules of which helpers keep functions in tables: reference implementations in Python, compilers.
INERT = ("torch._refs", "torch._prims", "torch._prims_common", "torch._lazy", "torch._inductor", "torch._dynamo",
         "torch._logging", "torch._utils_internal", "torch._higher_order_ops", "torch._functorch", "torch.onnx")


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
        return Absent(f"{self._name}.{name}")


class Inert(types.ModuleType):
    def __getattr__(self, name):
        if name == "__all__":
            return []
        if name.startswith("__"):
            raise AttributeError(name)
        return Absent(f"{self.__name__}.{name}")


# Of those modules: constants, which the helpers read while they load.
CONSTANTS = {"torch._inductor.utils": {"GPU_TYPES": ["cuda", "xpu"]}}

# Functions of PyTorch's inside, which the tables of operators name.
ABSENT = ("_native_batch_norm_legit", "_unsafe_masked_index", "_unsafe_masked_index_put_accumulate", "_chunk_cat")
ABSENT_ATEN = ("_batch_norm_with_update", "_flash_attention_forward", "_efficient_attention_forward", "native_dropout_backward")


def inert(name):
    module = Inert(name)
    vars(module).update(CONSTANTS.get(name, {}))
    return module


def add():
    """Gives torch._C, where it lacks them, the switches that helpers ask about the build and about TorchScript."""
    import torch
    script = {name: type(name, (), {}) for name in ("ScriptDict", "ScriptList", "ScriptMethod", "ScriptFunction")}
    switches = {"_jit_set_profiling_executor": lambda on: False, "_get_graph_executor_optimize": lambda *on: False,
                "_jit_set_num_profiled_runs": lambda runs: 0, "_jit_set_profiling_mode": lambda on: False,
                "_get_privateuse1_backend_name": lambda: "privateuseone", "has_lapack": True, "has_spectral": True}
    give(torch._C, {**script, **switches})
    import torch._dynamo.config
    give(torch._dynamo.config, {"inline_inbuilt_nn_modules": False})
    for module, absent in ((torch, ABSENT), (torch.ops.aten, ABSENT_ATEN)):
        give(module, {name: Absent(name) for name in absent})
    jiterator = {name: lambda *code, name=name, **options: Absent(name) for name in ("_create_jit_fn", "_create_multi_output_jit_fn")}
    gradcheck = importlib.import_module("torch.autograd.gradcheck")  # the module: torch.autograd has a function of that name
    give(gradcheck, {name: Absent(name) for name in ("_get_numerical_jacobian", "_iter_tensors")})
    give(torch.nn, {"Container": Absent("torch.nn.Container")})
    give(torch.ao, {"nn": Absent("torch.ao.nn")})
    give(torch.cuda.jiterator, jiterator)
    give(torch.backends, {"disable_global_flags": lambda: None})


def give(module, values):
    for name, value in values.items():
        if not hasattr(module, name):
            setattr(module, name, value)
