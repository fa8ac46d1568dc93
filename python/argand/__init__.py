"""Argand: tensors on CPUs and GPUs with PyTorch's programming model.

    import argand as torch

Functions of tensors come from the op definitions of the library (argand._C); what is written in Python here is
written in Python in PyTorch, too: modules, optimizers, data loading.
"""
import builtins as _builtins
import math as _math

from . import _forks  # noqa: F401 -- before all others that act on a fork: they are asked first
from . import _cuda_libraries  # noqa: F401 -- first: tells the library where CUDA's wheels are
from . import _C
from ._C import *  # noqa: F401,F403 -- operators, dtypes, Tensor, Size, Generator, errors
from ._C import __version__, Tensor, device, dtype, float32, segment_reduce as _segment_reduce  # noqa: F401
from math import e, inf, nan, pi  # noqa: F401

newaxis = None
del cuda, unique_dim  # noqa: F821 -- the extension's: a package imported below stands for one, unique() for the other

from . import _dispatch, _foreach, _functions, _internals, _named_modules, _plain_functions, _tensor  # noqa: E402 -- the methods of Tensor that are written in Python
from ._overridable import make_methods_overridable as _make_methods_overridable  # noqa: E402
_make_methods_overridable(Tensor)
from ._ignored import IgnoredArgument  # noqa: E402,F401
from ._functions import *  # noqa: E402,F401,F403
from ._functions import (_assert, _assert_async, _check, _check_index, _check_is_size, _check_tensor_all,  # noqa: E402,F401
                         _check_not_implemented, _check_type, _check_value, _shape_as_tensor)
from ._info import finfo, iinfo  # noqa: E402,F401
from ._lowrank import pca_lowrank, svd_lowrank  # noqa: E402,F401
from ._removed import eig, lstsq, matrix_rank, solve, symeig  # noqa: E402,F401
from .random import (default_generator, get_rng_state, initial_seed, manual_seed, seed,  # noqa: E402,F401
                     set_rng_state, fork_rng)
from .autograd.grad_mode import enable_grad, inference_mode, no_grad, set_grad_enabled  # noqa: E402,F401
from .serialization import load, save  # noqa: E402,F401
from ._settings import (are_deterministic_algorithms_enabled, get_default_device,  # noqa: E402,F401
                        get_float32_matmul_precision, is_deterministic_algorithms_warn_only_enabled,
                        set_default_device, set_default_tensor_type, get_deterministic_debug_mode, set_deterministic_debug_mode,
                        set_flush_denormal, set_float32_matmul_precision,
                        set_num_interop_threads, get_num_interop_threads, set_printoptions, use_deterministic_algorithms)
from . import (amp, autograd, backends, checkpoint, compiler, cuda, distributed, fft, jit, linalg, nn, optim, overrides,  # noqa: E402,F401
               random, special, storage, torch_version, types, utils, version)
from ._compile import compile  # noqa: E402,F401
from .storage import TypedStorage, UntypedStorage  # noqa: E402,F401
from .amp import GradScaler, autocast  # noqa: E402,F401
from .amp.autocast_mode import (get_autocast_cpu_dtype, get_autocast_dtype, get_autocast_gpu_dtype,  # noqa: E402,F401
                                is_autocast_enabled, set_autocast_dtype, set_autocast_enabled)

_TENSOR_TYPES = {"Float": "float32", "Double": "float64", "Half": "float16", "BFloat16": "bfloat16", "Byte": "uint8",
                 "Char": "int8", "Short": "int16", "Int": "int32", "Long": "int64", "Bool": "bool"}
for _name, _dtype in _TENSOR_TYPES.items():
    globals()[_name + "Tensor"] = _tensor.typed_tensor(_name + "Tensor", getattr(_C, _dtype))
del _name, _dtype

globals().update(_foreach.functions())
_plain_functions.make_plain(globals())
_named_modules.install()


_SCRIPT_TYPES = ("AnyType", "BoolType", "ClassType", "ComplexType", "DeviceObjType", "DictType", "EnumType", "FloatType", "FunctionSchema", "IntType",
                 "ListType", "NoneType", "NumberType", "OptionalType", "StringType", "TensorType", "TupleType", "UnionType")


def __getattr__(name):
    # Rarely used modules are loaded at first use: they would double the time of `import argand`.
    from importlib import import_module
    if name in ("_VF", "__config__", "__future__", "_dynamo", "_functorch", "_guards", "_inductor", "_jit_internal", "_ops", "_utils",
                "accelerator", "ao", "cpu", "distributions", "export", "func", "functional", "futures", "fx", "hub", "library",
                "masked", "models", "mps", "mtia", "multiprocessing", "nested", "onnx", "package", "profiler", "quantization",
                "quasirandom", "return_types", "signal", "sparse", "testing", "xpu"):
        return import_module("." + name, __name__)
    if name in ("ScriptFunction", "ScriptModule"):
        return getattr(jit, name)
    if name == "StorageBase":
        return _C.StorageBase
    if name == "Storage":  # that of the default dtype
        from ._typed_storage import KINDS, ON_CPU
        return ON_CPU[KINDS[_C.get_default_dtype()]]
    if name in ("_storage_classes", "_tensor_classes"):
        more = [(import_module(__name__), import_module("._more", __name__)), (cuda, import_module(".cuda._more", __name__))]
        kinds = [n for n in import_module("._typed_storage", __name__).ON_CPU] if name == "_storage_classes" else [
            n + "Tensor" for n in _TENSOR_TYPES]
        found = {getattr(b, n, None) or getattr(a, n) for a, b in more for n in kinds}
        return found | ({TypedStorage, UntypedStorage} if name == "_storage_classes" else set())
    if name in ("SymBool", "SymFloat", "SymInt"):
        return getattr(types, name)
    if name in _SCRIPT_TYPES:
        from ._refused import refused_class
        globals()[name] = found = refused_class("torch." + name, "types of TorchScript are not modelled")
        return found
    if name in ("PyTorchFileReader", "PyTorchFileWriter"):
        from ._refused import refused_class
        globals()[name] = found = refused_class("torch." + name, "files are read by torch.load, as data")
        return found
    if name == "Future":
        return import_module(".futures", __name__).Future
    if name in ("Event", "Stream"):
        return getattr(cuda, name)
    if name == "torch":  # PyTorch's package has itself as an attribute
        return import_module(__name__)
    if name == "ops":
        return import_module(".library", __name__).ops
    if name == "_disable_dynamo":
        return compiler.disable
    if name == "vmap":
        return import_module(".func", __name__).vmap
    if name == "_disable_dynamo":
        return compiler.disable
    if not name.startswith("_"):
        more = import_module("._more", __name__)
        if name in more.__all__:
            return getattr(more, name)
    elif name in ("_check_tensor_all_with", "_check_with"):
        return getattr(_functions, name)
    elif name.startswith("_cast_"):  # _cast_Long(t) and the like, from before Tensor.to()
        kind = _TENSOR_TYPES.get(name.removeprefix("_cast_"))
        if kind is not None:
            return lambda input, non_blocking=False: input.to(getattr(_C, kind), non_blocking=non_blocking)
    elif name == "_int_mm":
        return import_module("._more", __name__)._int_mm
    elif isinstance(getattr(_C, name, None), type(_C.add)):  # ops that programs know by names of PyTorch's own, as _standard_gamma
        return getattr(_C, name)
    return _named_modules.refused_name(__name__, name)


def is_tensor(obj):
    """Whether obj is a Tensor."""
    return isinstance(obj, Tensor)


def is_storage(obj):
    """Whether obj is a storage."""
    return isinstance(obj, (TypedStorage, UntypedStorage))
