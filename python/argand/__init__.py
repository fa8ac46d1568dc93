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

from . import _tensor_methods  # noqa: E402
_tensor_methods.complete()
from . import _foreach, _plain_functions, _surface, _typed_tensors  # noqa: E402
from ._float32_precision import get_float32_precision, set_float32_precision  # noqa: E402,F401
from ._ignored import IgnoredArgument  # noqa: E402,F401
from ._functions import *  # noqa: E402,F401,F403
from ._functions import (_assert, _assert_async, _check, _check_index, _check_is_size, _check_tensor_all,  # noqa: E402,F401
                         _check_not_implemented, _check_type, _check_value, _shape_as_tensor)
from ._dtype_limits import finfo, iinfo  # noqa: E402,F401
from ._dtypes import TENSOR_CLASSES as _TENSOR_CLASSES  # noqa: E402
from ._linear_algebra.eigenvalues import lobpcg  # noqa: E402,F401
from ._linear_algebra.low_rank import pca_lowrank, svd_lowrank  # noqa: E402,F401
from ._linear_algebra.removed import eig, lstsq, matrix_rank, solve, symeig  # noqa: E402,F401
from .random import (default_generator, get_rng_state, initial_seed, manual_seed, seed,  # noqa: E402,F401
                     set_rng_state, fork_rng)
from .autograd.grad_mode import enable_grad, inference_mode, no_grad, set_grad_enabled  # noqa: E402,F401
from .serialization import load, save  # noqa: E402,F401
from ._global_settings import (  # noqa: E402,F401
    are_deterministic_algorithms_enabled, get_default_device, get_float32_matmul_precision,
    is_deterministic_algorithms_warn_only_enabled, set_default_device, set_default_tensor_type,
    get_deterministic_debug_mode, set_deterministic_debug_mode, set_flush_denormal, set_float32_matmul_precision,
    set_num_interop_threads, get_num_interop_threads, set_printoptions, use_deterministic_algorithms)
from . import (amp, autograd, backends, checkpoint, compiler, cuda, distributed, fft, jit, linalg, nn, optim, overrides,  # noqa: E402,F401
               random, special, storage, torch_version, types, utils, version)
from ._surface import modules as _surface_modules  # noqa: E402
from ._compiling.models import compile  # noqa: E402,F401
from .storage import TypedStorage, UntypedStorage  # noqa: E402,F401
from .amp import GradScaler, autocast  # noqa: E402,F401
from .amp.autocast_mode import (get_autocast_cpu_dtype, get_autocast_dtype, get_autocast_gpu_dtype,  # noqa: E402,F401
                                is_autocast_enabled, set_autocast_dtype, set_autocast_enabled)

globals().update({_name: _typed_tensors.typed_tensor(_name, _dtype) for _name, _dtype in _TENSOR_CLASSES.items()})
globals().update(_foreach.functions())
_plain_functions.make_plain(globals())
_surface_modules.install()


def is_tensor(obj):
    """Whether obj is a Tensor."""
    return isinstance(obj, Tensor)


def is_storage(obj):
    """Whether obj is a storage."""
    return isinstance(obj, (TypedStorage, UntypedStorage))


def _private_op(name):
    """An op under a name that programs know and `import *` leaves out, as _standard_gamma."""
    found = getattr(_C, name, None) if name.startswith("_") else None
    return found if isinstance(found, type(_C.add)) else None


def _private_ops():
    return [name for name in vars(_C) if _private_op(name) is not None]


__getattr__, __dir__ = _surface.of(__name__, _private_op, _private_ops)
